// Author's mode: a run becomes the text of a lesson, and after each change the simulator plays it: its start, its solution,
// doing nothing, every wrong way. Nothing is sent anywhere.
import { createFigure } from "./kubestep.js";
import { make } from "./record.js";

const SITE = new URL("./", import.meta.url).href;
const KEY = "kubestep.author";
/** So long nothing is typed before it is checked. */
const PAUSE = 900;
const main = document.getElementById("main");

/** The built assets carry a name that changes; the page says which. */
async function assets() {
  const page = await (await fetch(SITE)).text();
  return import(new URL(`${page.match(/data-assets="([^"]*)"/)?.[1] ?? ""}export.js`, SITE).href);
}

const EMPTY = `---
title: A lesson of mine
minutes: 5
---

Open a scenario, do what the learner is to find out, press *Share* and *Save this run as a lesson*: then its text stands here.
`;

/** `#lesson!1…` or `#1…`: the lesson that a run began from, and the run. */
function asked() {
  const [, lesson, link] = location.hash.match(/^#(?:([a-z0-9-]{1,80})!)?(1.*)$/) ?? [];
  return link ? { lesson: lesson ?? "", link } : null;
}

/** What was written last, and for which address: behind the same one it is put back. */
const stored = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
const keep = (text) => { try { localStorage.setItem(KEY, JSON.stringify({ address: location.hash, text })); } catch { /* it lives as long as the page */ } };

const area = make("textarea", { id: "text", rows: 34, spellcheck: false, disabled: true, value: "…" });
const said = make("p", { id: "verdict" });
said.setAttribute("role", "status");
said.setAttribute("aria-label", "Check");
const problems = make("ul", { id: "problems" });
problems.setAttribute("aria-label", "Problems");
const name = make("input", { id: "name", value: "my-lesson.md" });
const download = make("button", { textContent: "Download" });
const play = make("button", { textContent: "Play it" });
const stage = make("div");
main.replaceChildren(
  make("p", { textContent: "One Markdown file. Lines in capitals are yours to write; the rest came from your run. It is checked after each change." }),
  make("label", { htmlFor: "text", textContent: "The lesson" }), area,
  make("p", {}, make("label", { htmlFor: "name", textContent: "File" }), name, " ", download, " ", play),
  said, problems, stage,
);

const tools = await assets();
let due = 0;
let count = 0;

async function check() {
  const [mine, text] = [++count, area.value];
  said.textContent = "Checking …";
  try {
    const found = (await tools.ask("check", text)).split("\n").filter(Boolean);
    if (mine !== count) return;
    // The words in capitals are no fault that a program finds.
    const left = text.split("\n").map((line, i) => [i + 1, line]).filter(([, line]) => /^(?:(?:say|ask|because): )?[A-Z]+(?: [A-Z]+)+\b/.test(line));
    const lines = [...found.map((line) => line.replace(/^mine\.md:?/, "line ").replace(/^line\s+:?\s*/, (m) => (/\d/.test(m) ? m : ""))), ...left.map(([n, line]) => `line ${n}: still to be written: ${line.slice(0, 60)}`)];
    said.textContent = found.length ? `${found.length} ${found.length === 1 ? "problem" : "problems"}.` : left.length ? "It proves itself. Some words are still to be written." : "It proves itself.";
    problems.replaceChildren(...lines.map((line) => make("li", { textContent: line })));
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
  figure = createFigure(stage, { source: { draft: area.value }, loading: "eager", controls: "full", show: "lesson,editor,board,verdict,steps,timeline,terminal,registry,why", title: "the lesson", height: "max(560px, calc(100vh - 220px))" });
  window.kubestepFigure = figure;
  stage.scrollIntoView({ block: "start" });
};

const run = asked();
const before = stored();
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
  if (location.hash) said.textContent = "The address holds no run that can be read. What you wrote last stands here.";
}
area.disabled = false;
if (!said.textContent) await check();
document.body.dataset.ready = "";
