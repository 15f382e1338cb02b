// A whole lesson without a mouse: read, predict, apply, run, edit, solve, go on. What can have the focus has a name.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

// The names and roles of what can have the focus, as assistive technology gets them.
async function focusable(page) {
  page.cdp ??= await page.tab.context().newCDPSession(page.tab);
  const { nodes } = await page.cdp.send("Accessibility.getFullAXTree");
  const is = (node, name) => node.properties?.some((p) => p.name === name && p.value.value === true);
  return nodes.filter((n) => !n.ignored && is(n, "focusable") && n.role.value !== "RootWebArea").map((n) => ({ role: n.role.value, name: (n.name?.value ?? "").trim(), id: n.backendDOMNodeId }));
}

async function allNamed(page, where) {
  const found = await focusable(page);
  assert.ok(found.length > 10, `${where}: ${found.length}`);
  const nameless = [];
  for (const { role, name, id } of found.filter((n) => !n.name)) {
    const { node } = await page.cdp.send("DOM.describeNode", { backendNodeId: id });
    // What only a press can focus is no stop.
    const at = node.attributes.indexOf("tabindex");
    if (at < 0 || node.attributes[at + 1] !== "-1") nameless.push([role, name, node.nodeName, node.attributes.join(" ")]);
  }
  assert.deepEqual(nameless, [], where);
}

// Tab until the focus is on what matches; a person gives up after so many.
async function tabTo(page, what, selector, words = /./) {
  const here = () => page.tab.evaluate((s) => {
    const e = document.activeElement;
    return e.matches(s) ? `${e.getAttribute("aria-label") ?? ""} ${e.textContent}`.trim() || "-" : null;
  }, selector);
  for (let i = 0; i < 90; i++) {
    const found = await here();
    if (found !== null && words.test(found)) return;
    await page.tab.keyboard.press("Tab");
  }
  assert.fail(`${what} is not reached with Tab; the focus is on ${await page.tab.evaluate(() => document.activeElement.outerHTML.slice(0, 120))}`);
}

async function answer(page, count) {
  const keys = page.tab.keyboard;
  await page.tab.getByRole("form", { name: "Prediction" }).waitFor();
  await tabTo(page, "the first choice", ".predict input[type=radio]");
  await keys.press("Space");
  await tabTo(page, "Predict", ".predict button", /^Predict/);
  await keys.press("Enter");
  await page.until("it is answered", async () => (await page.tab.locator(".answered").count()) === count);
}

test("a whole lesson by keyboard: prose, predictions, Apply, YAML, goals, the next one", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const title = () => page.text(page.tab.locator(".lesson h1"));
    await page.until("the lesson is open", async () => (await page.tab.locator(".lesson h1").count()) === 1 && (await title()) === "Read a green exit code");
    await page.tab.locator(".lessonbar").getByText(/^1 of/).waitFor();
    await allNamed(page, "the lesson");

    await tabTo(page, "the lesson's text", "[role=region]", /Read a green exit code/);
    await keys.press("End");
    await answer(page, 1);
    await keys.press("Control+Enter");
    await page.drawn();
    await keys.press("c");
    await page.until("it is stuck", async () => /^Stalled/.test(await page.text(page.verdict)));
    await page.rest();
    await answer(page, 2);
    await allNamed(page, "answered");

    // The file: its tab, the editor, and out of it again.
    await tabTo(page, "the file's tab", ".filetabs [role=tab]", /^checkout\.yaml/);
    await keys.press("Enter");
    await page.tab.locator(".cm-content").waitFor();
    await allNamed(page, "the file");
    const mended = (await page.file()).replace("1.9.2", "1.9.1");
    await tabTo(page, "the editor", ".cm-content");
    await keys.press("Control+a");
    await keys.insertText(mended);
    await keys.press("Control+Enter");
    await page.until("it is applied", async () => /configured/.test(await page.text(page.output)) && /1\.9\.1/.test(await page.file()));
    await page.applied();
    await keys.press("Escape");
    await keys.press("Tab");
    await tabTo(page, "the lesson's tab", ".filetabs [role=tab]", /^Lesson/);
    await keys.press("Enter");
    const end = page.tab.getByRole("region", { name: "Debrief" });
    for (let i = 0; i < 12 && !(await end.count()); i++) await page.pressKey("1");
    await end.waitFor();
    await allNamed(page, "solved");
    const goals = await page.tab.getByRole("list", { name: "Goals" }).getByRole("listitem").allTextContents();
    assert.ok(goals.length === 3 && goals.every((g) => /, done/.test(g)), goals.join(" | "));
    assert.match(await page.text(end), /Predictions 2 of 2 right/);

    await tabTo(page, "the next lesson", ".debrief button", /^Next:/);
    await keys.press("Enter");
    await page.until("the next one is open", async () => (await title()) === "Measure a gap and its age");
    await page.until("the focus is on the page", () => page.tab.evaluate(() => document.activeElement !== document.body));
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false });
});
