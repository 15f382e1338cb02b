// Everything by keyboard.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("the opening story by keys alone", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    await keys.press("Control+Enter");
    await page.until("Apply answers", async () => /exit 0/.test(await page.text(page.output)));
    const before = await page.at();
    await keys.press("s");
    await page.until("s steps", async () => (await page.at()) === before + 1);
    await keys.press("c");
    await page.until("c runs until calm", async () => /^Stalled/.test(await page.text(page.verdict)));
    await page.rest();
    const calm = await page.at();
    await keys.press("b");
    await page.until("b goes back", async () => (await page.at()) === calm - 1);
    await keys.press("f");
    await page.until("f goes forward", async () => (await page.at()) === calm);
    await keys.press("g");
    await page.tab.getByRole("group", { name: "Loops" }).waitFor();
    await keys.press("o");
    await page.tree.waitFor();
    await keys.press("n");
    await page.until("n selects the oldest gap", async () => /registry/.test(await page.text(page.why)));
    await keys.press("t");
    await page.until("t goes into the terminal", () => page.tab.evaluate(() => document.activeElement.id === "kubectl"));
    await keys.type("sg");
    assert.equal(await page.tab.getByRole("textbox", { name: "kubectl", exact: true }).inputValue(), "sg", "keys are text in a field");
  });
});

test("arrows walk the board, Enter selects, the focus stays", async () => {
  await visit(async (page) => {
    await page.tree.getByRole("treeitem").first().focus();
    await page.tab.keyboard.press("ArrowDown");
    await page.tab.keyboard.press("ArrowDown");
    const focused = () => page.tab.evaluate(() => document.activeElement.innerText.replace(/\s+/g, " "));
    const here = await focused();
    assert.match(here, /^ReplicaSet .*checkout-/);
    await page.tab.keyboard.press("Enter");
    await page.until("it is selected", async () => /ReplicaSet/.test(await page.text(page.tab.locator(".subject"))));
    assert.equal(await focused(), here);
    await page.tab.keyboard.press("ArrowLeft");
    await page.until("it is folded", async () => (await page.tree.locator("[id^=pod-]").count()) === 0);
  });
});

test("Esc, then Tab leaves the editor; a menu takes and gives back the focus", async () => {
  await visit(async (page) => {
    await page.manifest.focus();
    await page.tab.keyboard.press("Escape");
    await page.tab.keyboard.press("Tab");
    assert.equal(await page.tab.evaluate(() => document.activeElement.closest(".code-host")), null);
    await page.button("Break it").focus();
    await page.tab.keyboard.press("Enter");
    await page.tab.getByRole("menuitem").first().waitFor();
    await page.tab.keyboard.press("ArrowDown");
    await page.until("the focus is in the menu", () => page.tab.evaluate(() => document.activeElement.getAttribute("role") === "menuitem"));
    await page.tab.keyboard.press("Escape");
    await page.until("the focus is back", () => page.tab.evaluate(() => document.activeElement.id === "break-it"));
  });
});

test("the slider moves by steps, Home and End", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    const last = await page.last();
    await page.slider.focus();
    await page.tab.keyboard.press("ArrowLeft");
    await page.until("one step back", async () => (await page.at()) === last - 1);
    await page.tab.keyboard.press("Home");
    await page.until("the first", async () => (await page.at()) === 0);
    await page.tab.keyboard.press("End");
    await page.until("the last", async () => (await page.at()) === last);
    const words = new RegExp(`^Step ${last} of ${last}, .*gap open for`);
    await page.until("the slider says where it is", async () => words.test(await page.slider.getAttribute("aria-valuetext")));
  });
});
