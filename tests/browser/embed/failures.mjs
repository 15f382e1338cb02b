// Figures that cannot start, manifests that are not taken, questions that are not understood: the page around hears of each,
// the reader sees it, and nothing waits for what will never come.
import assert from "node:assert/strict";
import test from "node:test";
import { SITE, figure, heard, host, put, read } from "./host.mjs";

/** A server that is not there logs an error of the browser's own. */
const GONE = /ERR_CONNECTION_REFUSED|ERR_UNSAFE_PORT|404|Failed to load resource/;

const drive = (work, options) => read("api.html", async (tab) => {
  await tab.waitForFunction(() => window.loaded);
  await work(tab, (source, more) => tab.evaluate(([s, m]) => void window.make(s, m), [source, more]));
}, options);

const LESSON = `---
title: One more
---

Two pods run. Ask for three in the file.

\`\`\`yaml file web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.29"}]}
\`\`\`

\`\`\`yaml start
- kubectl: apply -f web.yaml
- settle: 5
\`\`\`

\`\`\`yaml goal
say: Three are ready.
is: pods -l app=web ready == 3
\`\`\`

\`\`\`yaml predict
ask: How many will there be?
answer: pods -l app=web count
because: Nobody has asked for more yet.
\`\`\`

\`\`\`yaml solution
- kubectl: scale deployment web --replicas=3
- settle: 12
\`\`\`

## Afterwards

A number in the file is a wish.
`;
const GERMAN = `---
title: Einer mehr
---

Zwei Pods laufen. Verlangen Sie drei in der Datei.

\`\`\`yaml goal
say: Drei sind bereit.
\`\`\`

\`\`\`yaml predict
ask: Wie viele werden es sein?
because: Noch hat niemand mehr verlangt.
\`\`\`

## Danach

Eine Zahl in der Datei ist ein Wunsch.
`;

const BAD = {
  "a scenario that there is not": [{ scenario: "P99" }, /no scenario/i],
  "a lesson that there is not": [{ lesson: "no-such" }, /no lesson no-such/],
  "a link that is none": [{ link: "#1thisisnolink" }, /missing|not whole|no link|characters/],
  "a link that is a program": [{ link: "javascript:alert(1)" }, /no link to a moment/],
  "a link to nowhere": [{ link: "https://kubestep.example/" }, /no link to a moment/],
  "nothing at all": [{}, /nothing to show/],
  "a draft whose block has no end": [{ draft: LESSON.replace("```\n\n## Afterwards", "\n\n## Afterwards") }, /no end/],
  "a lesson at an address that is empty": [{ lesson: "/nothing-here.md" }, /404/],
};

for (const [name, [source, why]] of Object.entries(BAD)) {
  test(`${name}: an error at once, rejected promises, a box that says so`, async () => {
    await drive(async (tab, make) => {
      await make(source, {});
      const [error] = await heard(tab, "error");
      assert.match(error.message, why);
      const told = await tab.evaluate(() => window.figure.getState().then(() => "", (e) => e.message));
      assert.match(told, why);
      assert.match(await tab.getByRole("alert").textContent(), why);
      assert.equal(await tab.locator("iframe").count(), 0);
      // Nothing else is shown in its place.
      assert.deepEqual(await tab.evaluate(() => window.heard.filter((e) => e.name === "ready")), []);
    }, { allow: GONE });
  });
}

test("no Kubestep at the address: it is said, and nothing waits", async () => {
  await drive(async (tab, make) => {
    await make({ scenario: "P05" }, { site: host("localhost") + "nowhere/" });
    const [error] = await heard(tab, "error", 15_000);
    assert.match(error.message, /No Kubestep answers at http/);
    await assert.rejects(tab.evaluate(() => window.figure.run()), /No Kubestep answers/);
  }, { allow: GONE });
});

test("a bare iframe that cannot start says why, and shows nothing else", async () => {
  await read("api.html", async (tab) => {
    await tab.goto(`${SITE}?embed&lesson=no-such`);
    await tab.getByRole("alert").filter({ hasText: "no lesson no-such" }).waitFor();
    assert.equal(await tab.getByRole("button", { name: "Step" }).count(), 0);
  });
});

test("figures that cannot start, or were taken away, hold up no other", async () => {
  put("block.html", `<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><body>
<script type="module">
  import { createFigure } from "{{SITE}}kubestep.js";
  window.heard = [];
  const make = (source) => { const place = document.body.appendChild(document.createElement("div")); return createFigure(place, { source, loading: "eager" }); };
  make({ scenario: "P99" });
  make({ draft: "no lesson" });
  make({ scenario: "P01" });
  document.body.lastElementChild.remove();
  const begun = performance.now();
  make({ scenario: "P05" }).on("ready", () => window.heard.push({ name: "ready", detail: performance.now() - begun }));
</script></body></html>`);
  await read("block.html", async (tab) => {
    const [millis] = await heard(tab, "ready");
    assert.equal(await tab.getByRole("alert").count(), 2);
    console.log(`    the fourth figure was ready after ${Math.round(millis)} ms`);
    assert.ok(millis < 18_000, `${millis}`);
  });
});

test("a manifest that is refused is an error: for the page around, and to be seen", async () => {
  for (const [yaml, why] of [["foo: [", /error/], ["apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {}\n", /selector/], ["", /no objects passed to apply/], ["not yaml at all", /error/]]) {
    await drive(async (tab, make) => {
      await make({ yaml }, { show: "board,verdict" });
      const [error] = await heard(tab, "error");
      assert.match(error.message, why);
      const state = await tab.evaluate(() => window.figure.getState());
      assert.equal(state.apply.exit, 1);
      assert.equal(state.error, error.message);
      const scene = figure(tab, "driven");
      assert.match(await scene.tab.getByRole("alert").textContent(), why);
      // It can still be mended.
      if (yaml) return;
      await tab.evaluate(() => window.figure.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"));
      assert.equal((await tab.evaluate(() => window.figure.getState())).error, "");
      assert.equal(await scene.tab.getByRole("alert").count(), 0);
    });
  }
});

test("a question that is not understood is rejected; one that does not come true says so", async () => {
  await drive(async (tab, make) => {
    await make({ scenario: "P05" }, {});
    await heard(tab, "ready");
    await assert.rejects(tab.evaluate(() => window.figure.run("podz foo")), /podz|understood|resource type|says/i);
    const never = await tab.evaluate(() => window.figure.run("pods -l app=nobody ready == 99"));
    assert.ok(["hour", "steps", "quiet"].includes(never.ended), never.ended);
    const so = await tab.evaluate(() => window.figure.run("pods count >= 1"));
    assert.equal(so.ended, "true");
    await assert.rejects(tab.evaluate(() => window.figure.open("1garbage")), /missing|not whole|no link|characters/);
    const opened = await tab.evaluate(() => window.figure.open("scenario=P01"));
    assert.deepEqual([opened.error, opened.scenario], ["", "P01"]);
    await assert.rejects(tab.evaluate(() => window.figure.open("scenario=P99")), /no scenario/i);
    const told = await tab.evaluate(() => window.figure.kubectl("explain deployment.spec.replicas"));
    assert.doesNotMatch(told.output, /on their way/);
    assert.match(told.output, /replicas/i);
  });
});

test("a draft shows its text, in its translation, and its links carry it", async () => {
  await drive(async (tab, make) => {
    await make({ draft: LESSON, translations: { de: GERMAN } }, { lang: "de" });
    const [state] = await heard(tab, "ready");
    assert.equal(state.lesson.goals[0].text, "Drei sind bereit.");
    const scene = figure(tab, "driven");
    await scene.tab.getByRole("heading", { name: "Einer mehr", exact: true }).waitFor();
    await tab.evaluate(() => window.figure.kubectl("scale deployment web --replicas=3"));
    const link = await tab.evaluate(() => window.figure.getLink());
    const other = await tab.context().newPage();
    await other.goto(link.url);
    await other.getByRole("heading", { name: "Einer mehr", exact: true }).waitFor();
    await other.getByText(/scale deployment web --replicas=3/).first().waitFor();
    await other.close();
    await tab.evaluate(() => { window.figure.destroy(); window.heard = []; });
    await make(link.url, { lang: "de" });
    const [again] = await heard(tab, "ready");
    assert.deepEqual([again.step, again.lesson.goals[0].text], [link.step, "Drei sind bereit."]);
    assert.equal((await tab.evaluate(() => window.figure.getLink())).hash, link.hash);
  });
});

test("a lesson that lies elsewhere is shown by its address, its translation by the language of the page", async () => {
  put("one-more.md", LESSON);
  put("one-more.de.md", GERMAN);
  put("elsewhere.html", `<!doctype html><html lang="de-AT"><meta charset="utf-8"><title>x</title><body><script type="module">
  import "{{SITE}}kubestep.js";
  window.heard = [];
  addEventListener("kubestep-ready", (e) => window.heard.push({ name: "ready", detail: e.detail }));
</script><kubestep-figure label="theirs" lesson="one-more.md" loading="eager"></kubestep-figure></body></html>`);
  await read("elsewhere.html", async (tab) => {
    const [state] = await heard(tab, "ready");
    assert.equal(state.lesson.goals[0].text, "Drei sind bereit.");
    await figure(tab, "theirs").tab.getByRole("heading", { name: "Einer mehr", exact: true }).waitFor();
    assert.equal(await tab.locator("iframe").getAttribute("title"), "Kubestep-Figur: theirs");
  });
});

test("options that are not known are named on the console, and what is usual holds", async () => {
  const said = [];
  await drive(async (tab, make) => {
    tab.on("console", (m) => m.type() === "warning" && said.push(m.text()));
    await make({ scenario: "P05" }, { lang: "fr", show: "bord,steps", step: "calmm", theme: "pink", controls: "many", height: "abc", loading: "soon" });
    await tab.evaluate(() => window.figure.run());
    for (const [name, value] of Object.entries({ lang: "fr", show: "bord", step: "calmm", theme: "pink", controls: "many", height: "abc", loading: "soon" })) {
      assert.ok(said.some((line) => line.includes(`${name} "${value}"`)), `${name}: ${said}`);
    }
    assert.ok((await tab.locator("iframe").boundingBox()).height > 400);
  });
});
