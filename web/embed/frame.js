// The figure's side of the protocol of docs/EMBEDDING.md. It hears one window, of one origin, and answers no other.
//
// The app hands every new moment to `kubestepNow` as JSON, and takes what is asked for through `kubestepDo`.

const PROTOCOL = 1;
const PART = "\u001f";
/** Longer texts are not taken. */
const MOST = 1 << 20;

const query = new URLSearchParams(location.search);
const host = hostOrigin();
/** A lesson that stands in the address, with its translations: its links carry it. */
let draft = draftOf(location.hash);
/** @type {any} */
let state = { ready: false, busy: true, error: "", files: [] };
const waiting = new Set();
let said = { ready: false, error: "", step: -1, branch: -1, verdict: "", goals: /** @type {string[]} */ ([]), solved: false, failed: false };
let unapplied = false;
let resume = false;
let last = Promise.resolve();

/** The origin that the address names; where the browser knows the real one, they have to agree. */
function hostOrigin() {
  const named = query.get("host");
  if (!named || window.parent === window) return null;
  const real = location.ancestorOrigins?.[0];
  return real && real !== named ? null : named;
}

function post(message) {
  // A page without an origin (a file) can only be addressed by "*"; it is told nothing but the figure's state.
  if (host) window.parent.postMessage({ kubestep: PROTOCOL, ...message }, host === "null" ? "*" : host);
}

const emit = (name, detail) => post({ type: "event", name, detail });

/** `draft=…&de=…` of a fragment, without the moment that it leads to; empty where it is something else. */
function draftOf(fragment) {
  return fragment.match(/^#?(draft=[^&]*(?:&(?!at=)[^&]*)*)/)?.[1] ?? "";
}

/** It cannot start, or has stopped for good. */
const failed = () => !state.ready && !state.busy && state.error !== "";

/** The page around is told once; a figure that stands alone says it itself. */
function fail() {
  if (said.failed) return;
  said.failed = true;
  post({ type: "failed", message: state.error });
  if (said.ready) return;
  const text = document.createElement("p");
  text.setAttribute("role", "alert");
  text.style.cssText = "margin:0;padding:16px;font:14px/1.5 system-ui,sans-serif";
  text.textContent = state.error;
  document.body.replaceChildren(text);
}

/** What has changed becomes events. */
function compare() {
  if (failed()) {
    error();
    return fail();
  }
  if (!state.ready) return error();
  if (!said.ready && !state.busy) {
    said.ready = true;
    post({ type: "ready", state });
  }
  if (!said.ready) return error();
  if (state.step !== said.step || state.branch !== said.branch) {
    said.step = state.step;
    said.branch = state.branch;
    emit("step", { step: state.step, last: state.last, now: state.now, sentence: state.sentence });
  }
  if (state.verdict.kind !== said.verdict) {
    said.verdict = state.verdict.kind;
    emit("verdict", state.verdict);
  }
  goals();
  error();
}

function goals() {
  const now = state.lesson?.goals ?? [];
  now.forEach((goal, index) => {
    if (goal.state !== (said.goals[index] ?? "open")) emit("goal", { index, ...goal });
  });
  said.goals = now.map((goal) => goal.state);
  const solved = (state.lesson?.solved ?? null) !== null;
  if (solved && !said.solved) emit("completed", { lesson: state.lesson.id, at: state.lesson.solved, shown: state.lesson.shown > 0 });
  said.solved = solved;
}

function error() {
  if (state.error && state.error !== said.error) emit("error", { message: state.error });
  said.error = state.error;
}

/** What kubectl says of a manifest that was not taken is an error until one is taken. */
function refusal() {
  unapplied = state.error === "" && (state.apply?.exit ?? 0) !== 0;
  if (unapplied) state.error = state.apply.output.trim() || `exit ${state.apply.exit}`;
}

window.kubestepNow = (text) => {
  state = JSON.parse(text);
  refusal();
  compare();
  for (const check of [...waiting]) check();
};

/** Waits until a condition on the state is true. */
function until(condition) {
  return new Promise((done) => {
    const check = () => {
      if (!condition()) return;
      waiting.delete(check);
      done(undefined);
    };
    waiting.add(check);
    check();
  });
}

const ask = (...parts) => window.kubestepDo?.(parts.map((p) => String(p).replaceAll(PART, " ")).join(PART));
/** Until nothing is under way any more. A figure that has failed never gets there. */
async function rests() {
  await until(() => (state.ready && !state.busy) || failed());
  if (failed()) throw new Error(state.error);
}

/** Asks for something, and gives the state when it is done. */
async function act(...parts) {
  ask(...parts);
  await rests();
  return state;
}

const number = (value) => {
  const n = Math.floor(Number(value));
  if (!Number.isFinite(n) || n < 0 || n > 0xffffffff) throw new TypeError("a number from 0 on was expected");
  return n;
};
const text = (value) => {
  if (typeof value !== "string" || value.length > MOST) throw new TypeError("a text of at most 1 MiB was expected");
  return value;
};

/** As `act`; what was refused is told. */
async function must(...parts) {
  await act(...parts);
  if (state.ended === "refused") throw new Error(state.refused);
  return state;
}

/** kubectl's answer, once Kubernetes' descriptions, which some answers are made of, are there. */
async function kubectl(line) {
  await act("kubectl", /^kubectl\b/.test(line) ? line : `kubectl ${line}`);
  const whole = until(() => !state.kubectl?.output.includes("descriptions are on their way"));
  await Promise.race([whole, new Promise((done) => setTimeout(done, 20_000))]);
  return state.kubectl ?? null;
}

/** The address of the shown moment. */
async function link() {
  await act("share");
  await until(() => state.link);
  const url = new URL("./", location.href);
  const lang = query.get("lang");
  if (lang && lang !== "en") url.search = `?lang=${lang}`;
  const fragment = state.scenario === "lesson:draft" && draft ? `${draft}&at=${state.link.fragment}` : state.link.fragment;
  url.hash = fragment;
  return { url: url.href, ...state.link, fragment };
}

/** What the page around may ask for. Each is done after the one before. */
const METHODS = {
  getState: async () => state,
  run: (question) => (question === undefined ? act("calm") : must("until", text(question))),
  step: () => act("step"),
  back: () => act("back"),
  forward: () => act("forward"),
  seek: (step) => act("seek", number(step)),
  advance: (millis) => act("advance", number(millis)),
  play: async () => (ask("play"), state),
  pause: () => act("pause"),
  apply: async (yaml) => (await act("apply", text(yaml))).apply ?? null,
  kubectl: (line) => kubectl(text(line).trim()),
  getLink: link,
  predict: (index, answer) => (answer === null || answer === undefined ? act("predict", number(index)) : act("predict", number(index), text(answer))),
  hint: () => act("hint"),
  showMe: () => act("show"),
  open: async (fragment) => {
    await must("open", text(fragment));
    if (state.error && !unapplied) throw new Error(state.error);
    draft = draftOf(fragment);
    return state;
  },
  setTheme: (theme) => act("theme", theme === "dark" ? "dark" : "light"),
  setTeacher: (on) => act("teacher", on ? "on" : "off"),
};

function call({ id, method, args }) {
  const known = Object.hasOwn(METHODS, method);
  const work = async () => {
    try {
      if (!known) throw new TypeError(`no method ${String(method).slice(0, 40)}`);
      await until(() => said.ready || failed());
      if (failed()) throw new Error(state.error);
      post({ type: "result", id, ok: true, value: await METHODS[method](...(Array.isArray(args) ? args : [])) });
    } catch (problem) {
      post({ type: "result", id, ok: false, error: String(problem?.message ?? problem) });
    }
  };
  if (method === "getState" || method === "pause") return void work();
  last = last.then(work);
}

/** Off screen nothing plays; what played goes on when it is seen again. */
function seen(visible) {
  if (!visible && state.playing) {
    resume = true;
    ask("pause");
  } else if (visible && resume) {
    resume = false;
    ask("play");
  }
}

addEventListener("message", (event) => {
  if (!host || event.source !== window.parent || event.origin !== host) return;
  const message = event.data;
  if (typeof message !== "object" || message === null || message.kubestep !== PROTOCOL) return;
  if (message.type === "hello" && said.ready) post({ type: "ready", state });
  if (message.type === "visible") seen(message.visible === true);
  if (message.type === "call" && Number.isInteger(message.id) && typeof message.method === "string") call(message);
});

// A figure without the script around it looks after itself.
document.addEventListener("visibilitychange", () => seen(!document.hidden));

// The whole page opens at this very moment.
document.addEventListener("click", async (event) => {
  const link = event.target instanceof Element ? event.target.closest("a.open") : null;
  if (!link || !state.ready) return;
  event.preventDefault();
  const { url } = await METHODS.getLink();
  window.open(url, "_blank", "noopener");
});

// It can be heard from now on.
post({ type: "alive" });
