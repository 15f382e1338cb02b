// Plays learners' results again in this page, and says what was solved.
import { createFigure } from "./kubestep.js";
import { outcome, readResult, save } from "./record.js";

const body = document.querySelector("tbody");
const said = document.getElementById("said");
const drop = document.getElementById("drop");
const rows = [];
/** A session that is not there by then cannot be played. */
const PATIENCE = 60_000;

/** The state that a session ends with. */
async function played(link) {
  const figure = createFigure(document.getElementById("stage"), { source: { link: `#${link.replace(/^#/, "")}` }, loading: "eager", show: "lesson" });
  try {
    const state = await new Promise((yes, no) => {
      figure.on("error", ({ message }) => no(new Error(message)));
      figure.on("ready", yes);
      setTimeout(() => no(new Error("it could not be played in a minute")), PATIENCE);
    });
    if (state.error) throw new Error(state.error);
    return state;
  } finally {
    figure.destroy();
  }
}

async function judge(result, entry) {
  const row = { class: result.class, learner: result.learner, lesson: entry.id, solved: false, shown: 0, steps: 0, acts: 0, hints: 0, right: 0, near: 0, predictions: 0, seconds: 0, minutes: entry.minutes ?? "", note: "" };
  try {
    const state = await played(entry.link);
    if (!state.lesson) return { ...row, note: "it is a session, but of no lesson" };
    Object.assign(row, outcome(state));
    if (entry.id && entry.id !== row.lesson) Object.assign(row, { solved: false, note: `it says ${entry.id}, and is a session of ${row.lesson}` });
  } catch (problem) {
    row.note = String(problem.message ?? problem);
  }
  return row;
}

function show(row) {
  const solved = row.solved ? "yes" : row.shown ? `shown ${row.shown}` : "no";
  const time = `${Math.floor(row.seconds / 60)}m ${String(row.seconds % 60).padStart(2, "0")}s`;
  const near = row.near ? ` (${row.near} near)` : "";
  const line = document.createElement("tr");
  for (const text of [row.learner, row.lesson, solved, row.steps, row.acts, row.hints, `${row.right} of ${row.predictions}${near}`, time, row.note]) {
    line.append(Object.assign(document.createElement("td"), { textContent: text }));
  }
  body.append(line);
  document.querySelector("table").hidden = false;
  document.getElementById("csv").hidden = false;
}

async function take(files) {
  for (const file of files) {
    said.textContent = `Playing ${file.name} …`;
    try {
      if (file.size > 4 << 20) throw new Error("it is larger than 4 MiB");
      const result = readResult(await file.text(), file.name.replace(/(\.kubestep)?\.\w+$/, ""));
      for (const entry of result.lessons) {
        const row = await judge(result, entry);
        rows.push(row);
        show(row);
      }
    } catch (problem) {
      const row = { learner: file.name, lesson: "", solved: false, shown: 0, steps: 0, acts: 0, hints: 0, right: 0, near: 0, predictions: 0, seconds: 0, minutes: "", class: "", note: String(problem.message ?? problem) };
      rows.push(row);
      show(row);
    }
  }
  said.textContent = `${rows.filter((r) => r.solved).length} of ${rows.length} solved.`;
}

/** A cell that would be taken for a formula is told to be text. */
const cell = (value) => {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[,"\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const COLUMNS = ["class", "learner", "lesson", "solved", "shown", "steps", "acts", "hints", "right", "near", "predictions", "seconds", "minutes", "note"];

document.getElementById("csv").onclick = () => {
  save("results.csv", `${[COLUMNS.join(","), ...rows.map((row) => COLUMNS.map((c) => cell(row[c])).join(","))].join("\n")}\n`, "text/csv");
};
let last = Promise.resolve();
const queue = (files) => { last = last.then(() => take([...files])); };
document.getElementById("files").onchange = (event) => queue(event.target.files);
drop.ondragover = (event) => { event.preventDefault(); drop.classList.add("over"); };
drop.ondragleave = () => drop.classList.remove("over");
drop.ondrop = (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  queue(event.dataTransfer.files);
};
