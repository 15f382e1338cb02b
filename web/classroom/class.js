// A class: without a fragment the teacher makes one, with one the learner works through it.
import { createFigure } from "./kubestep.js";
import { classFragment, make, outcome, readClass, resultFile, save, statement } from "./record.js";
import { packageOf } from "./scorm.js";

const SITE = new URL("./", import.meta.url).href;
const main = document.getElementById("main");
const SHOW = "lesson,editor,board,verdict,steps,timeline,terminal,registry,why";

async function map() {
  const answer = await fetch(new URL("lessons/index.json", SITE));
  return (await answer.json()).lessons.map(({ id, words }) => ({ id, title: words.en?.title ?? id }));
}

function teacher(lessons) {
  const title = make("input", { id: "class-title", value: "Kubernetes, first week" });
  const code = make("input", { id: "class-code", value: `class-${new Date().getFullYear()}`, maxLength: 40 });
  const ordered = make("input", { type: "checkbox", id: "ordered", checked: true });
  const voice = make("input", { type: "checkbox", id: "voice", checked: true });
  const boxes = lessons.map((l) => make("input", { type: "checkbox", value: l.id, id: `lesson-${l.id}` }));
  const link = make("textarea", { readOnly: true, rows: 3, id: "class-link" });
  const scorm = make("button", { textContent: "Save as SCORM 1.2 package", disabled: true });
  const klass = () => ({ title: title.value, code: code.value, ordered: ordered.checked, teacher: voice.checked, lessons: boxes.filter((b) => b.checked).map((b) => b.value) });
  const draw = () => {
    const now = klass();
    link.value = now.lessons.length ? `${SITE}class.html#${classFragment(now)}` : "";
    scorm.disabled = !now.lessons.length;
  };
  scorm.onclick = () => save("kubestep-scorm.zip", packageOf(SITE, klass(), Object.fromEntries(lessons.map((l) => [l.id, l.title]))), "application/zip");
  main.addEventListener("input", draw);
  main.replaceChildren(
    make("p", { textContent: "Choose lessons, and hand out the link. Each learner saves a file at the end; the page “What was solved” plays them again." }),
    make("p", {}, make("label", { htmlFor: "class-title", textContent: "Title" }), title, " ", make("label", { htmlFor: "class-code", textContent: "Code" }), code),
    make("p", {}, make("label", {}, ordered, " one after the other"), make("label", {}, voice, " the teacher’s voice")),
    make("fieldset", {}, make("legend", { textContent: "Lessons" }), ...lessons.map((l, i) => make("label", {}, boxes[i], ` ${l.title}`))),
    make("label", { htmlFor: "class-link", textContent: "The class’ link" }), link,
    make("p", {}, scorm, " ", make("a", { href: "verify.html", textContent: "What was solved" })),
  );
}

function learner(klass, lessons) {
  const key = `kubestep.class.${klass.code}.${klass.lessons.join("+")}`;
  const stored = (() => { try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; } })();
  const kept = { learner: "", lessons: {}, ...stored };
  const keep = () => { try { localStorage.setItem(key, JSON.stringify(kept)); } catch { /* it lives as long as the page */ } };
  const titleOf = (id) => lessons.find((l) => l.id === id)?.title ?? id;
  document.getElementById("title").textContent = klass.title || "A class";
  const name = make("input", { id: "learner", value: kept.learner, autocomplete: "name" });
  name.oninput = () => { kept.learner = name.value; keep(); };
  const list = make("ol", { className: "tasks" });
  list.setAttribute("aria-label", "Lessons");
  const stage = make("div");
  const said = make("p");
  said.setAttribute("role", "status");
  let figure = null;
  let open = "";
  let begun = 0;

  const draw = () => list.replaceChildren(...klass.lessons.map((id, i) => {
    const done = kept.lessons[id]?.solved;
    const waits = klass.ordered && i > 0 && !kept.lessons[klass.lessons[i - 1]]?.solved;
    const button = make("button", { textContent: `${done ? "✓ " : ""}${titleOf(id)}${done ? " (solved)" : ""}`, disabled: waits });
    if (id === open) button.setAttribute("aria-current", "step");
    button.onclick = () => start(id);
    return make("li", {}, button);
  }));

  async function remember(id) {
    const since = begun;
    const [state, link] = [await figure.getState(), await figure.getLink()];
    if (!state.lesson || state.lesson.id !== id || kept.lessons[id]?.solved) return;
    const done = outcome(state);
    kept.lessons[id] = { link: link.fragment, solved: done.solved, done, minutes: Math.round((Date.now() - since) / 60_000), when: new Date().toISOString() };
    keep();
    draw();
    if (done.solved) said.textContent = `${titleOf(id)}: solved. It is in your result.`;
  }

  function start(id) {
    figure?.destroy();
    open = id;
    begun = Date.now();
    figure = createFigure(stage, { source: { lesson: id }, loading: "eager", controls: "full", show: SHOW, teacher: klass.teacher, title: titleOf(id), height: "max(560px, calc(100vh - 220px))" });
    figure.on("completed", () => remember(id).catch(() => {}));
    figure.on("error", ({ message }) => { said.textContent = message; });
    window.kubestepFigure = figure;
    draw();
  }

  const results = () => klass.lessons.filter((id) => kept.lessons[id]).map((id) => ({ id, link: kept.lessons[id].link, minutes: kept.lessons[id].minutes }));
  const saveResult = make("button", { textContent: "Save my result" });
  saveResult.onclick = async () => {
    // What is under way counts as it is.
    if (figure && open && !kept.lessons[open]?.solved) await remember(open).catch(() => {});
    save(`${(kept.learner || "result").replace(/[^\p{L}\p{N}-]+/gu, "-")}.kubestep.json`, resultFile(klass, kept.learner, results()), "application/json");
  };
  const saveXapi = make("button", { textContent: "Save xAPI statements" });
  saveXapi.onclick = () => {
    const statements = klass.lessons.filter((id) => kept.lessons[id]).map((id) => statement(SITE, klass, kept.learner || "learner", kept.lessons[id].done, kept.lessons[id].when));
    save("statements.json", `${JSON.stringify(statements, null, 1)}\n`, "application/json");
  };
  draw();
  main.replaceChildren(make("p", {}, make("label", { htmlFor: "learner", textContent: "Your name" }), name, " ", saveResult, " ", saveXapi), list, said, stage);
}

const lessons = await map().catch(() => []);
const klass = location.hash.length > 1 ? readClass(location.hash) : undefined;
if (klass === null) main.textContent = "This class link is not whole. Ask for it again.";
else if (klass) learner(klass, lessons);
else teacher(lessons);
document.body.dataset.ready = "";
