// What a class and a learner's result are as text. No server: a class is its link, a result is a file.

const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const decode = (text) => new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)));
const word = (value, most = 200) => String(value ?? "").slice(0, most);

/** A class as the fragment of its link. */
export const classFragment = ({ title, code, lessons, ordered, teacher }) => `1${encode(JSON.stringify({ title, code, lessons, ordered, teacher }))}`;

/** The class of a fragment; null if it is none. */
export function readClass(fragment) {
  try {
    const text = fragment.replace(/^#/, "");
    if (!text.startsWith("1")) return null;
    const { title, code, lessons, ordered, teacher } = JSON.parse(decode(text.slice(1)));
    if (!Array.isArray(lessons) || lessons.length === 0 || lessons.length > 200) return null;
    const known = lessons.filter((id) => typeof id === "string" && /^[a-z0-9-]{1,80}$/.test(id));
    return { title: word(title), code: word(code, 40), lessons: known, ordered: ordered === true, teacher: teacher !== false };
  } catch {
    return null;
  }
}

/** A learner's file. */
export const resultFile = (klass, learner, lessons) => `${JSON.stringify({ kubestep: "result", version: 1, class: klass.code, learner, lessons }, null, 1)}\n`;

/** The sessions of a learner's file, or of a link alone. Throws what is wrong with it. */
export function readResult(text, name) {
  const whole = text.trim();
  if (!whole.startsWith("{")) return { class: "", learner: name, lessons: [{ id: "", link: whole.split("#").at(-1) }] };
  const value = JSON.parse(whole);
  if (value.kubestep !== "result") throw new Error("it is no result of a class");
  if (value.version !== 1) throw new Error(`it has version ${word(value.version, 10)}; this page reads 1`);
  if (!Array.isArray(value.lessons) || value.lessons.length > 200) throw new Error("it holds no lessons, or too many");
  const lessons = value.lessons.map((entry) => ({ id: word(entry?.id), link: word(entry?.link, 1e6).split("#").at(-1), minutes: Number.isFinite(entry?.minutes) ? entry.minutes : null }));
  return { class: word(value.class), learner: word(value.learner), lessons };
}

/** What a session came to, of the state that it was played to. */
export function outcome(state) {
  const { lesson } = state;
  const graded = (grade) => lesson.predictions.filter((p) => p.grade === grade).length;
  return {
    lesson: lesson.id, solved: lesson.solved !== null && lesson.shown === 0, shown: lesson.shown, steps: state.step, acts: lesson.acts, hints: lesson.hints,
    right: graded("right"), near: graded("close"), predictions: lesson.predictions.length, seconds: Math.floor(Math.max(0, (lesson.solved ?? state.now) - state.start) / 1000),
  };
}

/** An xAPI statement (1.0.3) about a lesson. */
export function statement(site, klass, learner, done, when) {
  const verb = done.solved ? ["http://adlnet.gov/expapi/verbs/completed", "completed"] : ["http://adlnet.gov/expapi/verbs/attempted", "attempted"];
  return {
    actor: { objectType: "Agent", name: learner, account: { homePage: site, name: learner } },
    verb: { id: verb[0], display: { "en-GB": verb[1] } },
    object: { objectType: "Activity", id: `${site}?lesson=${done.lesson}`, definition: { type: "http://adlnet.gov/expapi/activities/lesson", name: { "en-GB": done.lesson } } },
    result: { completion: done.solved, success: done.solved, duration: `PT${done.seconds}S`, score: { raw: done.right, min: 0, max: done.predictions } },
    context: { platform: "Kubestep", ...(klass.code ? { contextActivities: { grouping: [{ id: `${site}class.html?code=${encodeURIComponent(klass.code)}` }] } } : {}) },
    timestamp: when,
  };
}

/** Lets the browser save a text or bytes as a file. */
export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** An element with these properties, and what is inside it. */
export function make(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}
