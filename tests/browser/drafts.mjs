// What a person types is never lost: not before the simulator answers, not when the editor takes the plain field's place,
// not on the way from file to file, not while the simulator is started again.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const focused = (page) => page.tab.evaluate(() => document.activeElement.getAttribute("aria-label"));
// Holds a file of the site back until the returned function is called.
const hold = () => {
  let open;
  const gate = new Promise((done) => { open = done; });
  return { open, handler: async (route) => { await gate; await route.continue(); } };
};

test("typing goes on while the editor takes the plain field's place", async () => {
  const editor = hold();
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    assert.equal(await page.tab.locator(".cm-content").count(), 0, "the plain field is there first");
    await page.manifest.focus();
    await keys.press("Control+Home");
    const written = "# one two three four five six seven eight nine ten eleven twelve";
    const before = await page.manifest.inputValue();
    const typing = (async () => {
      for (const c of written) {
        await keys.type(c);
        if (c === "f") editor.open();
      }
    })();
    await typing;
    await page.tab.locator(".cm-content").waitFor();
    await keys.type(" thirteen");
    assert.equal(await focused(page), "Manifest");
    assert.equal(await page.file(), written + " thirteen" + before);
  }, { routes: [["**/editor.js", editor.handler]] });
});

test("a text filled in before the editor is there is the one that is applied", async () => {
  const editor = hold();
  await visit(async (page) => {
    await page.manifest.fill("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: early\n");
    editor.open();
    await page.tab.locator(".cm-content").waitFor();
    assert.match(await page.file(), /name: early/);
    assert.match(await page.apply(), /configmap\/early created/);
  }, { routes: [["**/editor.js", editor.handler]] });
});

test("what is typed before the simulator answers stays as a file of its own, in front", async () => {
  const engine = hold();
  await visit(async (page) => {
    await page.manifest.fill("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n");
    engine.open();
    await page.ready();
    assert.match(await page.text(page.tab.getByRole("tablist", { name: "Files" })), /checkout\.yaml new\.yaml/);
    assert.match(await page.file(), /name: first/);
    assert.match(await page.apply(), /configmap\/first created/);
  }, { ready: false, routes: [["**/worker_bg.wasm", engine.handler]] });
});

test("each file has its own text and its own undo", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const tab = (name) => page.tab.getByRole("tab", { name }).click();
    const checkout = await page.file();
    await page.button("New file").click();
    await page.until("the new file is empty", async () => (await page.file()) === "");
    await page.manifest.focus();
    await keys.type("a: 1");
    await tab(/checkout\.yaml/);
    await page.until("the first file is shown", async () => (await page.file()) === checkout);
    await page.manifest.focus();
    for (let i = 0; i < 5; i++) await keys.press("Control+z");
    assert.equal(await page.file(), checkout, "undo does not reach into the other file");
    await keys.press("Control+End");
    await keys.type("# mine");
    await tab(/new\.yaml/);
    await page.until("the own file is shown", async () => (await page.file()) === "a: 1");
    await page.manifest.focus();
    await keys.type("2");
    assert.equal(await page.file(), "a: 12", "the caret is where it was");
    await tab(/checkout\.yaml/);
    await page.until("the first file kept its text", async () => (await page.file()) === checkout + "# mine");
    await page.manifest.focus();
    await keys.press("Control+z");
    assert.equal(await page.file(), checkout);
  });
});

test("typing goes on while the simulator is started again", async () => {
  await visit(async (page) => {
    await page.manifest.focus();
    await page.tab.keyboard.press("Control+Home");
    await page.tab.keyboard.type("# before");
    await page.tab.evaluate(() => window.workers.at(-1).dispatchEvent(new ErrorEvent("error", { message: "out of memory" })));
    await page.tab.keyboard.type(", while, and after");
    await page.until("the row says it", async () => /started again/.test(await page.text(page.tab.locator(".banner"))));
    await page.ready();
    assert.match(await page.file(), /^# before, while, and after/);
    assert.equal(await focused(page), "Manifest");
  }, {
    init: () => {
      const Real = window.Worker;
      window.workers = [];
      window.Worker = class extends Real { constructor(...a) { super(...a); window.workers.push(this); } };
    },
  });
});
