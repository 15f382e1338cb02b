// Where one has been. Each thing that is opened (a scenario, a lesson, a link) is an entry of the browser's history and
// keeps the run in it and its drafts as long as the tab lives: Back goes there, and what was made is still there.
// A dialog is an entry above its place; Back closes it. Stands in the page's head, before the program that uses it.
window.kubestepPlaces = (function () {
  "use strict";
  var KEY = "kubestep.place.", FIELD = "\u001f", RECORD = "\u001e", MOST = 60;
  var memory = {};
  var figure = document.documentElement.hasAttribute("data-embed");
  function read(key) {
    try { return sessionStorage.getItem(KEY + key) || memory[key] || ""; } catch (e) { return memory[key] || ""; }
  }
  function write(key, text) {
    delete memory[key];
    try { sessionStorage.setItem(KEY + key, text); } catch (e) { memory[key] = text; }
  }
  function forget(place) {
    ["run", "drafts"].forEach(function (what) {
      delete memory[what + place];
      try { sessionStorage.removeItem(KEY + what + place); } catch (e) { /* then it holds nothing */ }
    });
  }
  function entry() {
    try { return history.state && history.state.place ? history.state : null; } catch (e) { return null; }
  }
  function put(how, over) {
    // Refused in some sandboxes; then Back leaves the page, as it would without this.
    try { history[how]({ place: here, over: over }, ""); } catch (e) { /* see above */ }
  }
  /** Keeps the drafts of a scenario in the place of those it had. */
  function others(scenario, text) {
    try {
      var all = (localStorage.getItem("kubestep.drafts") || "").split(RECORD);
      all = all.filter(function (d) { return d && d.slice(0, d.indexOf(FIELD)) !== scenario; });
      localStorage.setItem("kubestep.drafts", all.concat(text || []).join(RECORD));
      return true;
    } catch (e) { return false; }
  }
  /** The drafts of a place take the place of those that its scenario has had since. */
  function back(place) {
    var mine = read("drafts" + place), at = mine.indexOf(FIELD);
    if (mine) others(mine.slice(0, at), mine.slice(at + 1));
  }

  var first = entry();
  var here = first ? first.place : 0;
  /** An entry of a dialog lies above that of the place; one is shown. */
  var over = !!(first && first.over), shown = false;
  var hears = null;
  if (here) back(here);

  addEventListener("popstate", function () {
    var now = entry();
    // A fragment that somebody followed: it is opened as a link is.
    if (figure || !now) { over = false; return; }
    var same = now.place === here, was = over;
    over = !!now.over;
    if (!same) {
      here = now.place;
      back(here);
      var run = read("run" + here);
      if (run && hears) hears(run); else location.reload();
    } else if (was && !over) {
      // Either the dialog is closed by it, or it was closed already and the person means what lies below.
      if (shown) hears(""); else history.back();
    }
  });

  return {
    /** The run of the entry that the page was loaded for. */
    begun: function () { return figure || !here ? "" : read("run" + here); },
    listen: function (work) { hears = work; },
    /** Whether the browser has just made the entry itself. */
    fresh: function () { return !entry(); },
    /** Something was opened: at a place of its own, or where one is. */
    open: function (run, anew) {
      if (figure) return;
      var fresh = !entry();
      if (fresh || anew || !here) {
        here = Number(read("last")) + 1;
        write("last", String(here));
        forget(here - MOST);
        put(fresh || over ? "replaceState" : "pushState", false);
        over = false;
      }
      if (run) write("run" + here, run);
    },
    /** Puts a fragment, or a query that begins with `?`, into the address. A lesson that the query names goes when something else is opened; other queries stay. */
    address: function (text) {
      var kept = location.search.slice(1).split("&").filter(function (p) { return p && !/^(lesson|step)=/.test(p); }).join("&");
      var query = text[0] === "?" ? text + (kept && "&" + kept) : (kept && "?" + kept) + (text && "#" + text);
      try { history.replaceState(history.state, "", location.pathname + query); } catch (e) { /* refused in some sandboxes; then it stays */ }
    },
    /** The drafts of one scenario beside those of the others; whether they were stored. */
    drafts: function (scenario, text) {
      if (figure) return false;
      if (here) write("drafts" + here, scenario + FIELD + text);
      return others(scenario, text);
    },
    /** The map of lessons in one language, a line for each. */
    course: function (text, language) {
      try {
        return JSON.parse(text).lessons.map(function (l) {
          var w = l.words[language];
          return [l.id, w.part, w.chapter || "", w.title, l.minutes, l.needs.join(), w.files.join()].join(FIELD);
        }).join(RECORD);
      } catch (e) { return ""; }
    },
    keep: function (run) { if (here && !figure) write("run" + here, run); },
    dialog: function (open) {
      shown = open;
      if (!open || over || !here || figure) return;
      over = true;
      put("pushState", true);
    },
  };
})();
