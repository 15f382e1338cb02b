// After the first visit the site is there without a network, below a path, too.
import assert from "node:assert/strict";
import { createServer } from "node:http";
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

/** The site again under an address of its own, whose script for times without a network can become a newer one. */
async function again(work) {
  let newer = false;
  const server = createServer(async (request, response) => {
    const answer = await fetch(new URL(request.url.slice(1), SITE));
    let body = Buffer.from(await answer.arrayBuffer());
    if (request.url.endsWith("/sw.js") && newer) body = Buffer.from(body.toString().replace(/-([0-9a-f]{8})`/, "-newer$1`"));
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "", "Cache-Control": "no-cache" });
    response.end(body);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await work(`http://127.0.0.1:${server.address().port}/`, () => { newer = true; });
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

test("a newer version waits until the reader wants it, and then the old one goes", async () => {
  await again(async (site, publish) => {
    const context = await browser().newContext();
    try {
      const tab = await context.newPage();
      const page = new Page(tab);
      await tab.goto(site);
      await page.ready();
      await tab.waitForFunction(() => navigator.serviceWorker.controller);
      const names = () => tab.evaluate(async () => (await window.caches.keys()).filter((name) => name.startsWith("kubestep-")));
      const [old] = await names();
      assert.ok(!old.includes("-newer"), old);
      publish();
      await tab.reload();
      await page.ready();
      const note = tab.getByText("A newer version of Kubestep is there. Your run stays.");
      await note.waitFor();
      await tab.getByRole("button", { name: "Later" }).click();
      assert.equal(await note.count(), 0);
      await tab.reload();
      await note.waitFor();
      assert.equal((await names()).length, 2, "both are kept while it waits");
      const loaded = tab.waitForEvent("load");
      await tab.getByRole("button", { name: "Load it" }).click();
      await loaded;
      await page.ready();
      await tab.waitForFunction(async () => (await window.caches.keys()).filter((name) => name.startsWith("kubestep-")).length === 1);
      assert.match((await names())[0], /-newer[0-9a-f]{8}$/);
    } finally {
      await context.close();
    }
  });
});
