// The browser's Back and Forward: from a lesson, a dialog, another page, a link: one is where one was, with what one made.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const heading = (page) => page.tab.getByRole("region", { name: "Lesson", exact: true }).getByRole("heading", { level: 1 }).first();
const map = (page) => page.tab.getByRole("dialog", { name: "Lessons" });
const back = (page) => page.tab.evaluate(() => history.back());
const forward = (page) => page.tab.evaluate(() => history.forward());

// The opening story with a draft and a few steps: what must be there again.
async function made(page) {
  await page.tab.locator(".cm-content").waitFor();
  await page.write(`${await page.file()}# mine\n`);
  await page.apply();
  await page.press("Run until calm");
  await page.press("Back");
  return { step: await page.at(), last: await page.last(), hash: await page.hash() };
}

async function asMade(page, before) {
  await page.until("the step is back", async () => (await page.at()) === before.step && (await page.last()) === before.last);
  await page.rest();
  assert.equal(await page.hash(), before.hash);
  await page.until("the draft is back", async () => /# mine/.test(await page.file()));
}

test("Back closes a dialog, and goes from a lesson to the run before it; Forward to the lesson", async () => {
  await visit(async (page) => {
    const before = await made(page);
    await page.button("Lessons").click();
    await map(page).waitFor();
    await back(page);
    await map(page).waitFor({ state: "detached" });
    assert.equal(await page.at(), before.step);

    await page.button("Lessons").click();
    await map(page).getByRole("button", { name: "Let the loop count" }).click();
    await page.until("the lesson is open", async () => (await heading(page).count()) === 1 && (await page.text(heading(page))) === "Let the loop count");
    await page.press("Step");
    const inside = await page.at();
    await back(page);
    await asMade(page, before);
    assert.doesNotMatch(page.tab.url(), /lesson=/);
    await forward(page);
    await page.until("the lesson is open again", async () => (await heading(page).count()) === 1);
    await page.until("where one was in it", async () => (await page.at()) === inside);
    assert.match(page.tab.url(), /lesson=let-the-loop-count/);
    // What was closed otherwise costs no second press.
    await page.button("Lessons").click();
    await map(page).waitFor();
    await page.tab.keyboard.press("Escape");
    await map(page).waitFor({ state: "detached" });
    await back(page);
    await asMade(page, before);
  });
});

test("Back from a link, from the author's page and after a reload: nothing that was made is lost", async () => {
  await visit(async (page) => {
    const before = await made(page);
    const link = await page.tab.evaluate(() => location.hash);
    await page.tab.getByRole("combobox", { name: "Scenario" }).selectOption({ index: 3 });
    await page.until("another is open", async () => (await page.last()) !== before.last);
    const other = await page.last();
    await page.tab.evaluate((to) => { location.hash = to; }, link);
    await page.until("the link is open", async () => (await page.at()) === before.step);
    await page.press("Step");
    await back(page);
    await page.until("the scenario is back", async () => (await page.last()) === other);
    await page.tab.reload();
    await page.ready();
    await page.until("the reload knows it", async () => (await page.last()) === other);
    await back(page);
    await asMade(page, before);

    await page.tab.goto(new URL("author.html", page.tab.url()).href);
    await page.tab.locator("body[data-ready]").waitFor();
    await page.tab.goBack();
    await page.ready();
    await asMade(page, before);
    await forward(page);
    await page.tab.locator("body[data-ready]").waitFor();
  });
});

test("to begin anew is no loss either", async () => {
  await visit(async (page) => {
    await page.until("the lesson is open", async () => (await heading(page).count()) === 1);
    await page.press("Step");
    await page.press("Step");
    const there = await page.at();
    await page.button("Reset").click();
    await page.until("it begins anew", async () => (await page.at()) < there);
    await back(page);
    await page.until("what was done is back", async () => (await page.at()) === there);
  }, { fragment: "?lesson=let-the-loop-count" });
});
