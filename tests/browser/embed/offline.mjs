// After the first visit the site is there without a network, below a path, too.
import assert from "node:assert/strict";
import test from "node:test";
import { browser, Page } from "../page.mjs";
import { SITE } from "./host.mjs";

test("after the first visit the page loads and steps without a network, and a lesson opens", async () => {
  const context = await browser().newContext();
  try {
    const tab = await context.newPage();
    const page = new Page(tab);
    await tab.goto(SITE);
    await page.ready();
    const scope = await tab.evaluate(async () => (await navigator.serviceWorker.ready).scope);
    assert.equal(scope, SITE, "it keeps to the path of the site");
    await tab.waitForFunction(() => navigator.serviceWorker.controller);
    await context.setOffline(true);
    await tab.reload();
    await page.ready();
    await page.apply();
    await page.press("Step");
    await tab.goto(`${SITE}?lesson=send-it-twice`);
    await tab.getByRole("heading", { name: "Send it twice", exact: true }).waitFor();
    const caches = await tab.evaluate(async () => (await window.caches.keys()).filter((name) => name.startsWith("kubestep-")));
    assert.equal(caches.length, 1, "one version at a time");
  } finally {
    await context.close();
  }
});
