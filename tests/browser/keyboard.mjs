// Everything by keyboard.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("the opening story by keys alone", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    await keys.press("Control+Enter");
    await page.applied();
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
    // The plain field gives way to the editor first.
    await page.tab.locator(".cm-content").waitFor();
    await page.manifest.focus();
    await page.tab.keyboard.press("Escape");
    await page.tab.keyboard.press("Tab");
    assert.equal(await page.tab.evaluate(() => document.activeElement.closest(".code-host")), null);
    await page.button("Break it").focus();
    await page.tab.keyboard.press("Enter");
    await page.focusIn("[role=menu]");
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

test("a dialog keeps the focus, and Esc gives it back to where it was", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const label = () => page.tab.evaluate(() => document.activeElement.getAttribute("aria-label") || document.activeElement.id);
    const inside = () => page.tab.evaluate(() => document.activeElement.closest("[role=dialog]") !== null);
    await page.slider.focus();
    await keys.press("?");
    await page.until("the dialog has the focus", inside);
    for (const key of ["Tab", "Tab", "Tab", "Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab"]) {
      await keys.press(key);
      assert.ok(await inside(), `${key} left the dialog for ${await label()}`);
    }
    const step = await page.at();
    await page.button("Close").focus();
    await keys.press("s");
    assert.equal(await page.at(), step, "the page behind does not hear keys");
    await keys.press("Escape");
    await page.until("the focus is back", async () => (await label()) === "Timeline");
    assert.equal(await page.tab.getByRole("dialog").count(), 0);

    await page.tab.locator("#open-models").click();
    await page.tab.getByRole("dialog", { name: "What is modelled" }).waitFor();
    await page.button("Close").click();
    await page.until("the focus is back on its button", async () => (await label()) === "open-models");
  });
});

test("a menu closes when the person turns to something else, and an act in it keeps the focus on the page", async () => {
  await visit(async (page) => {
    const menu = page.tab.locator("[role=menu]");
    await page.button("Break it").click();
    await page.focusIn("[role=menu]");
    await page.tab.keyboard.press("Tab");
    await menu.waitFor({ state: "detached" });
    await page.button("Faults").click();
    await menu.waitFor();
    await page.tab.locator(".clock").click();
    await menu.waitFor({ state: "detached" });
    await page.tab.locator("[id^=open-node-]").last().click();
    await page.choose(/^Remove/);
    await page.until("the node is gone", async () => (await page.tab.locator("[id^=open-node-]").count()) === 2);
    await page.until("the focus is somewhere", () => page.tab.evaluate(() => document.activeElement !== document.body));
  });
});

test("Share takes the focus to the link and keeps it there when the link has come", async () => {
  await visit(async (page) => {
    await page.button("Share").focus();
    await page.tab.keyboard.press("Enter");
    const link = page.tab.getByRole("textbox", { name: "Link", exact: true });
    await page.until("the link is there", async () => (await link.count()) && /#1/.test(await link.inputValue()));
    await page.until("it has the focus", () => page.tab.evaluate(() => document.activeElement.id === "share-link"));
    await page.tab.keyboard.press("Tab");
    assert.equal(await page.tab.evaluate(() => document.activeElement.textContent), "Copy link");
  });
});

test("letters on the board jump to a name; what is a key of its own does so with Shift", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const focused = () => page.tab.evaluate(() => document.activeElement.innerText.replace(/\s+/g, " "));
    const step = await page.at();
    await page.tree.getByRole("treeitem").first().focus();
    await keys.press("Shift+C");
    await page.until("the next name with c", async () => /^Deployment/.test(await focused()));
    const suffixes = await page.tree.locator("[id^=pod-] .id").allTextContents();
    const suffix = suffixes.find((s) => !/^[12]/.test(s));
    // Letters far apart are words of their own: on a machine that is busy with other things it takes more than one attempt.
    await page.until("the pod by its suffix", async () => {
      await page.tab.waitForTimeout(1000);
      await keys.press(/[a-z]/.test(suffix[0]) ? `Shift+${suffix[0].toUpperCase()}` : suffix[0]);
      await keys.type(suffix.slice(1, 4));
      return (await focused()).includes(suffix);
    });
    assert.equal(await page.at(), step, "no step was made");
  });
});
