// Author's mode: a run becomes the text of a lesson, and after each change the simulator plays it: its start, its solution,
// doing nothing, every wrong way. Nothing is sent anywhere.
import { createFigure } from "./kubestep.js";
import { make } from "./record.js";

const SITE = new URL("./", import.meta.url).href;
const KEY = "kubestep.author";
/** So long nothing is typed before it is checked. */
const PAUSE = 900;
const main = document.getElementById("main");

/** The language as the page has it: of the address, else as it was chosen there. */
const language = new URLSearchParams(location.search).get("lang") ?? stored("kubestep.prefs").match(/^lang=(\w+)/m)?.[1] ?? "en";
const GERMAN = {
  "A lesson of yours": "Eine Lektion von dir",
  "One Markdown file. Lines in capitals are yours to write; the rest came from your run. It is checked after each change.": "Eine Markdown-Datei. Zeilen in Großbuchstaben schreibst du; der Rest kam aus deinem Lauf. Nach jeder Änderung wird sie geprüft.",
  "The lesson": "Die Lektion",
  "File": "Datei",
  "Download": "Herunterladen",
  "Play it": "Spielen",
  "Check": "Prüfung",
  "Problems": "Probleme",
  "Checking …": "Wird geprüft …",
  "1 problem.": "1 Problem.",
  "{} problems.": "{} Probleme.",
  "line {}": "Zeile {}",
  "still to be written": "noch zu schreiben",
  "It proves itself.": "Sie beweist sich selbst.",
  "It proves itself. Some words are still to be written.": "Sie beweist sich selbst. Einige Worte sind noch zu schreiben.",
  "The address holds no run that can be read. What you wrote last stands here.": "Die Adresse enthält keinen Lauf, der gelesen werden kann. Hier steht, was du zuletzt geschrieben hast.",
};
const t = (english, gap = "") => ((language === "de" && GERMAN[english]) || english).replace("{}", gap);
document.documentElement.lang = language === "de" ? "de" : "en";
document.title = `Kubestep: ${t("A lesson of yours")}`;
document.querySelector("h1").textContent = t("A lesson of yours");

/** What the browser keeps under a name; nothing where it may keep nothing. */
function stored(name) {
  try { return localStorage.getItem(name) ?? ""; } catch { return ""; }
}

/** The built assets carry a name that changes; the page says which. */
async function assets() {
  const page = await (await fetch(SITE)).text();
  return import(new URL(`${page.match(/data-assets="([^"]*)"/)?.[1] ?? ""}export.js`, SITE).href);
}

const EMPTY = language === "de" ? `---
title: Eine Lektion von mir
minutes: 5
---

Öffne ein Szenario, tu, was herauszufinden ist, drücke „Teilen“ und „Diesen Lauf als Lektion sichern“: Dann steht ihr Text hier.
` : `---
title: A lesson of mine
minutes: 5
---

Open a scenario, do what the learner is to find out, press “Share” and “Save this run as a lesson”: then its text stands here.
`;

/** `#lesson!1…` or `#1…`: the lesson that a run began from, and the run. */
function asked() {
  const [, lesson, link] = location.hash.match(/^#(?:([a-z0-9-]{1,80})!)?(1.*)$/) ?? [];
  return link ? { lesson: lesson ?? "", link } : null;
}

/** What was written last, and for which address: behind the same one it is put back. */
const last = () => { try { return JSON.parse(stored(KEY)) ?? {}; } catch { return {}; } };
const keep = (text) => { try { localStorage.setItem(KEY, JSON.stringify({ address: location.hash, text })); } catch { /* it lives as long as the page */ } };

const area = make("textarea", { id: "text", rows: 34, spellcheck: false, disabled: true, value: "…" });
const said = make("p", { id: "verdict" });
said.setAttribute("role", "status");
said.setAttribute("aria-label", t("Check"));
const problems = make("ul", { id: "problems" });
problems.setAttribute("aria-label", t("Problems"));
const name = make("input", { id: "name", value: "my-lesson.md" });
const download = make("button", { textContent: t("Download") });
const play = make("button", { textContent: t("Play it") });
const stage = make("div");
main.replaceChildren(
  make("p", { textContent: t("One Markdown file. Lines in capitals are yours to write; the rest came from your run. It is checked after each change.") }),
  make("label", { htmlFor: "text", textContent: t("The lesson") }), area,
  make("p", {}, make("label", { htmlFor: "name", textContent: t("File") }), name, " ", download, " ", play),
  said, problems, stage,
);

const tools = await assets();
let due = 0;
let count = 0;

/** A problem, with the way to its line. */
function problem([at, words, lang]) {
  const item = make("li", {}, make("span", { textContent: words, lang }));
  if (at) {
    const go = make("button", { className: "line", textContent: t("line {}", at) });
    go.onclick = () => {
      const from = area.value.split("\n").slice(0, at - 1).reduce((n, line) => n + line.length + 1, 0);
      const to = area.value.indexOf("\n", from);
      area.focus();
      area.setSelectionRange(from, to < 0 ? area.value.length : to);
    };
    item.prepend(go, " ");
  }
  return item;
}

async function check() {
  const [mine, text] = [++count, area.value];
  said.textContent = t("Checking …");
  try {
    const found = (await tools.ask("check", text)).split("\n").filter(Boolean);
    if (mine !== count) return;
    // The words in capitals are no fault that a program finds.
    const left = text.split("\n").map((line, i) => [i + 1, line]).filter(([, line]) => /^(?:(?:say|ask|because): )?[A-Z]+(?: [A-Z]+)+\b/.test(line));
    const lines = found.map((line) => {
      const [, at, words] = line.match(/^mine\.md:?(?:(\d+):?)?\s*(.*)$/) ?? [null, undefined, line];
      return [Number(at) || 0, words, "en"];
    });
    for (const [at, line] of left) lines.push([at, `${t("still to be written")}: ${line}`, document.documentElement.lang]);
    said.textContent = found.length ? (found.length === 1 ? t("1 problem.") : t("{} problems.", found.length)) : t(left.length ? "It proves itself. Some words are still to be written." : "It proves itself.");
    problems.replaceChildren(...lines.map(problem));
  } catch (why) {
    if (mine === count) said.textContent = String(why.message ?? why);
  }
}

area.addEventListener("input", () => {
  keep(area.value);
  clearTimeout(due);
  due = setTimeout(check, PAUSE);
});
download.onclick = () => tools.save(/^[\w.-]+\.md$/.test(name.value) ? name.value : "my-lesson.md", area.value, "text/markdown");
let figure = null;
play.onclick = () => {
  figure?.destroy();
  figure = createFigure(stage, { source: { draft: area.value }, loading: "eager", controls: "full", show: "lesson,editor,board,verdict,steps,timeline,terminal,registry,why", title: t("The lesson"), lang: document.documentElement.lang, height: "max(560px, calc(100vh - 220px))" });
  window.kubestepFigure = figure;
  stage.scrollIntoView({ block: "start" });
};

const run = asked();
const before = last();
if (run && before.address === location.hash) area.value = before.text;
else if (run) {
  try {
    area.value = await tools.ask("lesson", run.link, await tools.sourcesOf(run.lesson, SITE));
    keep(area.value);
  } catch (why) {
    area.value = before.text ?? EMPTY;
    said.textContent = String(why.message ?? why);
  }
} else {
  area.value = before.text ?? EMPTY;
  if (location.hash) said.textContent = t("The address holds no run that can be read. What you wrote last stands here.");
}
area.disabled = false;
if (!said.textContent) await check();
document.body.dataset.ready = "";
