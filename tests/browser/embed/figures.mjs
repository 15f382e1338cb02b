// What a figure is and does: its parts, its methods, its events, by the script and by its address alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { browser } from "../page.mjs";
import { SITE, figure, heard, host, read } from "./host.mjs";

const AXE = readFileSync(new URL("../../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.29
`;

const drive = (work, options) => read("api.html", async (tab) => {
  await tab.waitForFunction(() => window.loaded);
  await work(tab, (source, more) => tab.evaluate(([s, m]) => void window.make(s, m), [source, more]));
}, options);

test("a manifest is applied, run, asked and changed by the page around", async () => {
  await drive(async (tab, make) => {
    await make(WEB, { show: ["board", "verdict", "steps", "timeline"] });
    const [state] = await heard(tab, "ready");
    assert.equal(state.files[0].text, WEB);
    assert.match(state.apply.output, /deployment.apps\/web created/);
    const ran = await tab.evaluate(() => window.figure.run());
    assert.equal(ran.verdict.kind, "converged");
    const answer = await tab.evaluate(() => window.figure.kubectl("get pods -l app=web -o name"));
    assert.equal(answer.exit, 0);
    assert.equal(answer.output.trim().split("\n").length, 2);
    const applied = await tab.evaluate((text) => window.figure.apply(text), WEB.replace("replicas: 2", "replicas: 3"));
    assert.match(applied.output, /deployment.apps\/web configured/);
    await tab.evaluate(() => window.figure.run("pods -l app=web ready == 3"));
    const scene = figure(tab, "driven");
    assert.equal(await scene.tree.getByText("Running, ready").count(), 3);
    const back = await tab.evaluate(() => window.figure.back());
    const forth = await tab.evaluate((step) => window.figure.seek(step), back.step + 1);
    assert.equal(forth.step, back.step + 1);
    const steps = await heard(tab, "step");
    assert.ok(steps.length > 2 && steps.every((s) => typeof s.sentence === "string"));
    assert.ok((await heard(tab, "verdict")).some((v) => v.kind === "converged"));
  });
});

test("a link of a figure opens at the same moment and the same state", async () => {
  await drive(async (tab, make) => {
    await make({ scenario: "P05" }, {});
    await heard(tab, "ready");
    await tab.evaluate(() => window.figure.seek(12));
    const link = await tab.evaluate(() => window.figure.getLink());
    assert.ok(link.url.startsWith(`${SITE}#1`) && link.url.length < 2000, link.url);
    await tab.evaluate(() => { window.figure.destroy(); window.heard = []; });
    assert.equal(await tab.locator("iframe").count(), 0);
    await make(link.url, {});
    const [state] = await heard(tab, "ready");
    assert.equal(state.step, link.step);
    assert.equal((await tab.evaluate(() => window.figure.getLink())).hash, link.hash);
  });
});

test("a lesson is solved by its shown way, and the page hears of its goals", async () => {
  await drive(async (tab, make) => {
    await make("follow-one-edit-through-the-loops", { show: "lesson,board,steps" });
    const [state] = await heard(tab, "ready");
    assert.equal(state.lesson.id, "follow-one-edit-through-the-loops");
    await tab.evaluate(async () => {
      let state = await figure.getState();
      for (let i = 0; i < 30 && state.lesson.solved === null; i++) {
        if (state.lesson.asks !== null) state = await figure.predict(state.lesson.asks, null);
        else state = state.lesson.shown < state.lesson.solution ? await figure.showMe() : await figure.advance(10000);
      }
    });
    const [done] = await heard(tab, "completed");
    assert.equal(done.lesson, "follow-one-edit-through-the-loops");
    assert.equal(done.shown, true);
    assert.ok((await heard(tab, "goal")).some((g) => g.state === "done"));
  });
});

test("what cannot be done is said, and does no harm", async () => {
  await drive(async (tab, make) => {
    await make({ scenario: "P05" }, {});
    await heard(tab, "ready");
    const refused = await tab.evaluate(() => window.figure.seek(-1).then(() => "", (e) => e.message));
    assert.match(refused, /number/);
    const answer = await tab.evaluate(() => window.figure.kubectl("get nothing"));
    assert.equal(answer.exit, 1);
    await assert.rejects(tab.evaluate(() => { window.figure.on("nonsense", () => {}); }), /no event nonsense/);
  });
});

for (const [name, size] of [["wide", 900], ["720", 720], ["600", 600], ["narrow", 340]]) {
  test(`a figure at ${name} px: what was asked for and no more, without a finding of axe, by keyboard`, async () => {
    const context = await browser().newContext({ viewport: { width: size, height: 420 }, bypassCSP: true });
    try {
      const tab = await context.newPage();
      await tab.goto(`${SITE}?embed&show=board,verdict,steps,timeline#scenario=P05`);
      await tab.getByRole("button", { name: "Step", exact: true }).waitFor();
      await tab.getByRole("tree", { name: "Objects" }).waitFor();
      for (const hidden of ["Apply", "Break it", "Faults", "Reconcile"]) {
        assert.equal(await tab.getByRole("button", { name: hidden, exact: true }).count(), 0, hidden);
      }
      for (const shown of ["Back", "+1 min", "Play"]) assert.ok(await tab.getByRole("button", { name: shown, exact: true }).isVisible(), shown);
      assert.ok(await tab.getByRole("slider", { name: "Timeline" }).count());
      const before = await tab.locator(".clock").textContent();
      await tab.keyboard.press("s");
      await tab.waitForFunction((was) => document.querySelector(".clock").textContent !== was, before);
      const sideways = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(sideways <= 0, `${sideways} px too wide`);
      await tab.evaluate(AXE);
      const found = await tab.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`), []);
    } finally {
      await context.close();
    }
  });
}

test("each part is there where it is asked for", async () => {
  const context = await browser().newContext({ viewport: { width: 1100, height: 600 } });
  try {
    const tab = await context.newPage();
    const parts = {
      why: (t) => t.getByRole("region", { name: "Inspector" }),
      loops: (t) => t.locator(".loops"),
      editor: (t) => t.getByRole("textbox", { name: "Manifest", exact: true }),
      terminal: (t) => t.getByRole("textbox", { name: "kubectl", exact: true }),
      verdict: (t) => t.getByRole("status", { name: "Verdict" }),
      timeline: (t) => t.getByRole("slider", { name: "Timeline" }),
      steps: (t) => t.getByRole("log", { name: "Steps" }),
      board: (t) => t.getByRole("tree", { name: "Objects" }),
    };
    for (const part of Object.keys(parts)) {
      await tab.goto("about:blank");
      await tab.goto(`${SITE}?embed&show=${part}#scenario=P05`);
      await parts[part](tab).first().waitFor();
      for (const [other, find] of Object.entries(parts)) {
        if (other !== part) assert.ok(!(await find(tab).first().isVisible()), `${other} is shown beside ${part}`);
      }
    }
  } finally {
    await context.close();
  }
});

test("a plain iframe needs no script; a readonly one offers nothing to change", async () => {
  const context = await browser().newContext({ viewport: { width: 1100, height: 600 } });
  try {
    const tab = await context.newPage();
    await tab.goto(`${SITE}?embed&readonly&show=editor,board,terminal,steps&controls=full&theme=dark#yaml=${encodeURIComponent(WEB)}`);
    await tab.getByRole("button", { name: "Run until calm" }).click();
    await tab.getByText("Running, ready").first().waitFor();
    assert.equal(await tab.locator("html").getAttribute("data-theme"), "dark");
    assert.match(await tab.getByRole("region", { name: "Manifest" }).textContent(), /replicas: 2/);
    for (const button of ["Apply", "Break it", "+ node", "Faults"]) assert.equal(await tab.getByRole("button", { name: button }).count(), 0, button);
    assert.equal(await tab.getByRole("textbox").count(), 0);
    // Nothing is kept: the next figure of this page finds nothing of this one.
    assert.equal(await tab.evaluate(() => localStorage.length), 0);
  } finally {
    await context.close();
  }
});

test("the address of a figure says what it is", async () => {
  await drive(async (tab) => {
    const address = await tab.evaluate((site) => window.figureAddress({ source: { yaml: "a: 1\n" }, show: ["board"], step: 3, readonly: true }, site, "https://docs.example.com"), SITE);
    assert.equal(address, `${SITE}?embed&show=board&readonly&step=3&host=https%3A%2F%2Fdocs.example.com#yaml=a%3A%201%0A`);
    assert.ok(host().startsWith("http://localhost:"));
  });
});
