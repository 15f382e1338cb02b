// Kubestep in a page of yours: `createFigure(element, options)` and `<kubestep-figure>`. No dependencies.
// What a figure is, what can be asked of it and what it says: docs/EMBEDDING.md and kubestep.d.ts.

/** The protocol that this script speaks with a figure. */
export const PROTOCOL = 1;

/** Where this script is, the site is. */
const SITE = new URL("./", import.meta.url).href;
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads";
const EVENTS = ["ready", "step", "verdict", "goal", "completed", "error"];
/** So long nothing was scrolled before a figure that nobody pressed is started, in milliseconds. */
const REST = 160;
/** So long another figure waits for the one before it, at most. */
const PATIENCE = 20_000;
/** So long a frame that was fetched may be silent, and so long it may take to be fetched. */
const SILENCE = 2_000;
const FETCH = 60_000;
/** What the box says by itself. */
const WORDS = {
  en: ["Kubestep figure", "Run this figure", "This figure cannot start."],
  de: ["Kubestep-Figur", "Figur starten", "Diese Figur kann nicht starten."],
};
/** What options may be; others are passed over, and named on the console. */
const PARTS = "board why loops steps editor terminal verdict timeline lesson registry".split(" ");
const KNOWN = {
  show: PARTS, controls: ["full", "few", "none"], loading: ["lazy", "click", "eager"], theme: ["light", "dark", "auto"], lang: Object.keys(WORDS),
  step: [/^(\d+|calm)?$/], height: [/^(\d+|[\d.]+[a-z%]+|[a-z]+\(.*\))$/],
};
const TALL = 520;
const HEIGHTS = [[559, 520], [Infinity, 420]];

const STYLE = `
:host, .box { display: block; }
.box { position: relative; width: 100%; border: 1px solid #c3c8c9; border-radius: 8px; overflow: hidden; background: #fcfcfb; color: #171b1f; box-sizing: border-box; font: 14px/1.45 system-ui, sans-serif; contain: layout paint; }
.box.dark { background: #171b1e; color: #e9ecee; border-color: #3d454c; }
iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; background: inherit; color-scheme: auto; }
.poster { position: absolute; inset: 0; display: grid; place-content: center; justify-items: center; gap: 12px; padding: 16px; text-align: center; }
.poster img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; opacity: .35; }
.poster > :not(img) { position: relative; }
.poster pre { margin: 0; max-height: 150px; max-width: 100%; overflow: hidden; text-align: left; font: 12px/1.45 ui-monospace, monospace; opacity: .75; }
button { font: 600 14px/1 system-ui, sans-serif; min-height: 44px; padding: 0 18px; border-radius: 5px; border: 1px solid #171b1f; background: #171b1f; color: #fff; cursor: pointer; }
.dark button { background: #e9ecee; color: #10151a; border-color: #e9ecee; }
button:focus-visible { outline: 3px solid #1d5fd1; outline-offset: 2px; }
.dark button:focus-visible { outline-color: #7db0ff; }
`;

/** Figures start one after the other, so that a page with many stays quick. */
let queue = Promise.resolve();
let scrolled = -Infinity;
if (typeof addEventListener === "function") {
  addEventListener("scroll", () => { scrolled = performance.now(); }, { capture: true, passive: true });
}

const later = (millis) => new Promise((done) => setTimeout(done, millis));

/** Resolves once nothing has been scrolled for a while. */
async function rest() {
  for (;;) {
    const left = scrolled + REST - performance.now();
    if (left <= 0) return;
    await later(left + 1);
  }
}

/** Says which options are not known: they would be passed over in silence. */
function warn(options) {
  for (const [name, known] of Object.entries(KNOWN)) {
    const value = options[name];
    if (value === undefined || value === null || value === "" || typeof value === "boolean") continue;
    const parts = name === "show" ? (Array.isArray(value) ? value : String(value).split(/[\s,+]+/).filter(Boolean)) : [String(value)];
    for (const part of parts) {
      if (!known.some((k) => (k instanceof RegExp ? k.test(part) : k === part))) console.warn(`kubestep: ${name} "${part}" is not known${known[1] ? `; there are ${known.join(", ")}` : ""}`);
    }
  }
}

/** The language of the page around an element: the words of a figure are its words, too. */
function spoken(element) {
  const said = (element.closest("[lang]") ?? document.documentElement).lang.slice(0, 2).toLowerCase();
  return said && (said in WORDS ? said : "en");
}

/** Whether a lesson is an address, not an id. */
const isAddress = (text) => /^https?:|\.md$|\//.test(text ?? "");

/**
 * What a source is, where that is not said: a link, the id of a lesson, else a manifest.
 * @param {string | Record<string, string>} source
 */
function sourceOf(source) {
  if (source && typeof source === "object") return source;
  const text = String(source ?? "").trim();
  if (/^#?1[A-Za-z0-9_-]{8,}$/.test(text) || /^https?:\/\/\S+$/.test(text) && !/\.md$/.test(text)) return { link: text };
  if (/^[a-z0-9]+(-[a-z0-9]+)+$/.test(text) || /^\S+\.md$/.test(text)) return { lesson: text };
  return text ? { yaml: String(source) } : {};
}

/** Why a source can give no figure; empty where it may. */
function fault(source, site) {
  if (!Object.keys(source).length) return "There is nothing to show: it needs a link, a lesson, a scenario or a manifest.";
  if (source.link === undefined || /^#?1/.test(source.link)) return "";
  const url = URL.canParse(source.link, site) ? new URL(source.link, site) : null;
  const holds = url && /^https?:/.test(url.protocol) && (url.hash.length > 1 || url.searchParams.get("lesson"));
  return holds ? "" : `"${source.link}" is no link to a moment: copy one from Share.`;
}

/** The address of a figure. Everything that it is stands in it, so that a reload gives the same figure. */
export function figureAddress(options = {}, site = SITE, host = "") {
  const source = sourceOf(options.source);
  const url = new URL("./", site);
  const query = ["embed"];
  const add = (name, value) => query.push(`${name}=${encodeURIComponent(value)}`);
  let show = Array.isArray(options.show) ? options.show.join(",") : options.show;
  let { step } = options;
  if (source.link !== undefined) {
    const link = new URL(source.link, new URL("./", site));
    url.hash = /^#?1[A-Za-z0-9_-]+$/.test(source.link) ? source.link.replace(/^#/, "") : link.hash;
    const lesson = link.searchParams.get("lesson");
    if (lesson) add("lesson", lesson);
    step ??= link.searchParams.get("step") ?? undefined;
  }
  if (source.lesson !== undefined) add("lesson", source.lesson);
  if (source.scenario !== undefined) url.hash = `scenario=${source.scenario}`;
  if (source.yaml !== undefined) url.hash = `yaml=${encodeURIComponent(source.yaml)}`;
  if (source.draft !== undefined) {
    const others = Object.entries(source.translations ?? {}).map(([lang, text]) => `&${lang}=${encodeURIComponent(text)}`);
    url.hash = `draft=${encodeURIComponent(source.draft)}${others.join("")}`;
    show ||= "lesson,board,verdict,steps,timeline";
  }
  if (show) add("show", show);
  if (options.controls) add("controls", options.controls === true ? "full" : options.controls);
  else if (options.controls === false) add("controls", "none");
  if (options.readonly) query.push("readonly");
  if (options.theme === "dark" || options.theme === "light") add("theme", options.theme);
  if (options.lang) add("lang", options.lang);
  if (options.teacher === false) add("teacher", "off");
  if (step !== undefined && step !== null && step !== "") add("step", step);
  if (host) add("host", host);
  url.search = `?${query.join("&")}`;
  return url.href;
}

/** A figure in a page. */
class Figure {
  #options;
  #site;
  #box;
  #frame = null;
  #observer;
  #heard;
  #calls = new Map();
  #listeners = new Map(EVENTS.map((name) => [name, new Set()]));
  #next = 1;
  #ready;
  #isReady;
  #notReady;
  #settled = false;
  #started = false;
  #destroyed = false;
  #visible = true;
  #alive = false;
  #failed = "";
  #told = "";

  constructor(element, options) {
    this.#options = { loading: "lazy", ...options, lang: options.lang ?? spoken(element) };
    warn(options);
    this.#site = new URL(options.site ?? SITE, document.baseURI).href;
    this.#ready = new Promise((yes, no) => { [this.#isReady, this.#notReady] = [yes, no]; });
    this.#ready.catch(() => { /* told by every call that waits */ }).then(() => { this.#settled = true; });
    this.#draw(element);
    this.#heard = (event) => this.#hear(event);
    addEventListener("message", this.#heard);
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries.at(-1).isIntersecting), { rootMargin: "120px" });
    this.#observer.observe(this.#box);
    if (this.#options.loading === "eager") this.#begin(false);
  }

  /** The element that holds the figure. */
  get element() { return this.#box.getRootNode().host; }

  #draw(element) {
    const holder = document.createElement("div");
    holder.style.display = "block";
    const root = holder.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = STYLE;
    this.#box = document.createElement("div");
    this.#box.className = dark(this.#options.theme) ? "box dark" : "box";
    root.append(style, this.#box);
    element.append(holder);
    // The room is taken before anything is fetched: nothing on the page moves later.
    const wide = element.clientWidth || 720;
    // A file or a lesson beside the board needs room for what is below it.
    const tall = /\b(editor|lesson)\b/.test(String(this.#options.show ?? ""));
    const { height } = this.#options;
    this.#box.style.height = `${tall ? TALL : HEIGHTS.find(([most]) => wide <= most)[1]}px`;
    // What is no height leaves that.
    if (height) this.#box.style.height = typeof height === "number" ? `${height}px` : height;
    this.#poster();
  }

  #poster() {
    const poster = document.createElement("div");
    poster.className = "poster";
    const { poster: image, title } = this.#options;
    const source = sourceOf(this.#options.source);
    if (image) {
      const picture = document.createElement("img");
      picture.src = image;
      picture.alt = "";
      poster.append(picture);
    } else if (source.yaml) {
      const text = document.createElement("pre");
      text.textContent = source.yaml.trim().split("\n").slice(0, 8).join("\n");
      poster.append(text);
    }
    if (title) {
      const words = document.createElement("strong");
      words.textContent = title;
      poster.append(words);
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = this.#word(1);
    button.onclick = () => {
      this.#begin(true);
    };
    poster.append(button);
    this.#box.append(poster);
  }

  #word(i) { return (WORDS[this.#options.lang] ?? WORDS.en)[i]; }

  #seen(visible) {
    this.#visible = visible;
    if (visible && this.#options.loading === "lazy") this.#begin(false);
    this.#post({ type: "visible", visible });
  }

  /** Fetches the figure: at once if it was asked for, else when its turn has come and the reader rests. */
  #begin(asked) {
    if (this.#started && !asked || this.#frame) return;
    this.#started = true;
    if (asked) return this.#fetch(true);
    queue = queue.then(async () => {
      await rest();
      if (this.#destroyed || this.#frame) return;
      if (!this.#visible && this.#options.loading === "lazy") {
        // The reader has scrolled past it.
        this.#started = false;
        return;
      }
      this.#fetch(false);
      // One that cannot start, or was taken away, holds up no other.
      for (let waited = 0; waited < PATIENCE && !this.#settled && this.#box.isConnected; waited += 50) await later(50);
    });
  }

  async #fetch(focus) {
    const source = sourceOf(this.#options.source);
    const wrong = fault(source, this.#site);
    if (wrong) return this.#fail(wrong);
    if (isAddress(source.lesson)) {
      this.#frame = {};
      try {
        this.#options.source = await fetched(source.lesson, this.#options.lang);
      } catch (problem) {
        return this.#fail(`${source.lesson}: ${problem.message}`);
      }
      if (this.#destroyed) return;
    }
    const frame = document.createElement("iframe");
    // From the page's own origin it would protect neither from the other, and browsers warn of it.
    if (new URL(this.#site).origin !== location.origin) frame.setAttribute("sandbox", SANDBOX);
    frame.allow = "clipboard-write";
    const name = this.#word(0);
    frame.title = this.#options.title ? `${name}: ${this.#options.title}` : name;
    frame.src = figureAddress({ ...this.#options, theme: dark(this.#options.theme) ? "dark" : "light" }, this.#site, origin());
    // What is loaded and says nothing is no figure of Kubestep.
    const silent = () => { if (!this.#alive) this.#fail(`No Kubestep answers at ${this.#site}`); };
    frame.onload = () => setTimeout(silent, SILENCE);
    setTimeout(silent, FETCH);
    this.#frame = frame;
    this.#box.replaceChildren(frame);
    if (focus) frame.focus();
  }

  /** It cannot start, or has come to its end: that is told to everybody who waits. */
  #fail(message) {
    if (this.#destroyed || this.#failed) return;
    this.#failed = message;
    if (!this.#settled) {
      const text = document.createElement("p");
      const words = document.createElement("strong");
      words.textContent = this.#word(2);
      text.append(words, ` ${message}`);
      text.setAttribute("role", "alert");
      text.className = "poster";
      this.#box.replaceChildren(text);
    }
    this.#reject(new Error(message));
    if (this.#told !== message) this.#tell("error", { message });
  }

  #reject(why) {
    this.#notReady(why);
    for (const { no } of this.#calls.values()) no(why);
    this.#calls.clear();
  }

  #post(message) {
    if (this.#alive) this.#frame?.contentWindow?.postMessage({ kubestep: PROTOCOL, ...message }, new URL(this.#site).origin);
  }

  #hear(event) {
    if (!this.#frame || event.source !== this.#frame.contentWindow || event.origin !== new URL(this.#site).origin) return;
    const message = event.data;
    if (typeof message !== "object" || message === null || message.kubestep !== PROTOCOL) return;
    this.#alive = true;
    if (message.type === "failed") {
      this.#fail(String(message.message));
    } else if (message.type === "ready") {
      this.#isReady(message.state);
      this.#post({ type: "visible", visible: this.#visible });
      this.#tell("ready", message.state);
    } else if (message.type === "event" && this.#listeners.has(message.name)) {
      this.#tell(message.name, message.detail);
    } else if (message.type === "result") {
      const call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if (message.ok) call?.yes(message.value);
      else call?.no(new Error(message.error));
    }
  }

  #tell(name, detail) {
    if (name === "error") this.#told = detail.message;
    for (const listener of [...this.#listeners.get(name)]) listener(detail);
  }

  /** Asks for something; a figure that was not started is started. */
  async #call(method, ...args) {
    if (this.#destroyed || this.#failed) throw new Error(this.#failed || "the figure was destroyed");
    this.#begin(!this.#started);
    await this.#ready;
    const id = this.#next++;
    return new Promise((yes, no) => {
      this.#calls.set(id, { yes, no });
      this.#post({ type: "call", id, method, args });
    });
  }

  run(question) { return question === undefined ? this.#call("run") : this.#call("run", question); }
  step() { return this.#call("step"); }
  back() { return this.#call("back"); }
  forward() { return this.#call("forward"); }
  seek(step) { return this.#call("seek", step); }
  advance(millis) { return this.#call("advance", millis); }
  play() { return this.#call("play"); }
  pause() { return this.#call("pause"); }
  apply(yaml) { return this.#call("apply", yaml); }
  kubectl(line) { return this.#call("kubectl", line); }
  getState() { return this.#call("getState"); }
  getLink() { return this.#call("getLink"); }
  predict(index, answer) { return this.#call("predict", index, answer); }
  hint() { return this.#call("hint"); }
  showMe() { return this.#call("showMe"); }
  open(fragment) { return this.#call("open", fragment); }
  setTeacher(on) { return this.#call("setTeacher", on); }

  setTheme(theme) {
    this.#options.theme = theme;
    this.#box.classList.toggle("dark", dark(theme));
    return this.#frame ? this.#call("setTheme", dark(theme) ? "dark" : "light") : Promise.resolve();
  }

  on(event, listener) {
    const all = this.#listeners.get(event);
    if (!all) throw new TypeError(`no event ${event}; there are ${EVENTS.join(", ")}`);
    all.add(listener);
    return () => all.delete(listener);
  }

  destroy() {
    if (this.#destroyed) return;
    this.#destroyed = true;
    removeEventListener("message", this.#heard);
    this.#observer.disconnect();
    this.#reject(new Error("the figure was destroyed"));
    this.element?.remove();
    this.#frame = null;
  }
}

function dark(theme) {
  return theme === "dark" || theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
}

/** A page that was opened as a file has none: `null`. */
function origin() {
  return location.origin && location.origin !== "file://" ? location.origin : "null";
}

/** A lesson that lies somewhere else: its text, and its translation if there is one beside it. */
async function fetched(address, lang) {
  const text = async (url) => {
    const response = await fetch(new URL(url, document.baseURI));
    if (!response.ok) throw new Error(`the server says ${response.status}`);
    return response.text();
  };
  const draft = await text(address);
  if (!lang || lang === "en") return { draft };
  const other = await text(address.replace(/(\.md)?(?=[?#]|$)/, `.${lang}.md`)).catch(() => null);
  return other === null ? { draft } : { draft, translations: { [lang]: other } };
}

/** Puts a figure into an element. */
export function createFigure(element, options = {}) {
  if (!(element instanceof Element)) throw new TypeError("createFigure wants an element");
  return new Figure(element, options);
}

const ATTRIBUTES = ["source", "lesson", "link", "scenario", "show", "controls", "readonly", "loading", "theme", "lang", "step", "height", "poster", "label", "site", "teacher"];

/** `<kubestep-figure>`: the options as attributes; a manifest may stand inside. */
const Base = typeof HTMLElement === "undefined" ? class {} : HTMLElement;

export class KubestepFigure extends Base {
  static observedAttributes = ATTRIBUTES;
  #planned = false;
  /** The figure, while the element is in a page. */
  figure = null;

  connectedCallback() { this.#plan(); }
  disconnectedCallback() { this.#plan(); }

  attributeChangedCallback(name, before, now) {
    if (!this.figure || before === now) return;
    if (name === "theme") return void this.figure.setTheme(now);
    if (name === "step" && /^\d+$/.test(now ?? "")) return void this.figure.seek(Number(now)).catch(() => {});
    this.figure.destroy();
    this.figure = null;
    this.#plan();
  }

  /** What is moved within a page is taken out and put in at once: it stays as it is only if it comes back in the same turn. */
  #plan() {
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      if (this.isConnected && !this.figure) this.#create();
      if (!this.isConnected && this.figure) {
        this.figure.destroy();
        this.figure = null;
      }
    });
  }

  #create() {
    const at = (name) => this.getAttribute(name) ?? undefined;
    const source = at("link") !== undefined ? { link: at("link") }
      : at("lesson") !== undefined ? { lesson: at("lesson") }
        : at("scenario") !== undefined ? { scenario: at("scenario") }
          : at("source") ?? inside(this);
    const controls = at("controls");
    const height = at("height");
    if (!this.shadowRoot) this.attachShadow({ mode: "open" });
    const stage = document.createElement("div");
    this.shadowRoot.replaceChildren(stage);
    this.style.display ||= "block";
    this.figure = createFigure(stage, {
      source, show: at("show"), controls: controls === "" ? "full" : controls, readonly: this.hasAttribute("readonly") && at("readonly") !== "false",
      loading: at("loading") ?? "lazy", theme: at("theme"), lang: at("lang") ?? spoken(this), step: at("step"), poster: at("poster"), title: at("label"),
      teacher: at("teacher") !== "off", ...(height ? { height: /^\d+$/.test(height) ? Number(height) : height } : {}), ...(at("site") ? { site: at("site") } : {}),
    });
    for (const name of EVENTS) {
      this.figure.on(name, (detail) => this.dispatchEvent(new CustomEvent(`kubestep-${name}`, { detail, bubbles: true, composed: true })));
    }
  }
}

/** The manifest between the tags, without the indentation that the page gives it. */
function inside(element) {
  const lines = (element.querySelector("script, template, pre, code")?.textContent ?? element.textContent ?? "").split("\n");
  while (lines.length && !lines[0].trim()) lines.shift();
  while (lines.length && !lines.at(-1).trim()) lines.pop();
  if (!lines.length) return {};
  const margin = Math.min(...lines.filter((l) => l.trim()).map((l) => l.match(/^ */)[0].length));
  return { yaml: lines.map((l) => l.slice(margin)).join("\n") + "\n" };
}

if (typeof customElements !== "undefined" && !customElements.get("kubestep-figure")) {
  customElements.define("kubestep-figure", KubestepFigure);
}
