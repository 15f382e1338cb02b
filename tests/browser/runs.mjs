// A run is not lost by a reload, and what a person can read of it holds together.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("a reload puts the run back and says so", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    await page.press("Back");
    const before = { step: await page.at(), last: await page.last(), hash: await page.hash() };
    await page.press("Back");
    await page.press("Forward");
    await page.tab.reload();
    await page.ready();
    await page.until("the step is back", async () => (await page.at()) === before.step && (await page.last()) === before.last);
    assert.equal(await page.hash(), before.hash);
    assert.match(await page.text(page.tab.locator(".banner")), new RegExp(`Your run was put back\\. You are at step ${before.step}`));
    assert.match(await page.text(page.output), /configured/);
    await page.button("Start over").click();
    await page.until("it begins anew", async () => (await page.last()) < before.last);
    assert.equal(await page.tab.locator(".banner").count(), 0);
  });
});

test("a visit without a deed begins without a word", async () => {
  await visit(async (page) => {
    await page.tab.reload();
    await page.ready();
    assert.equal(await page.tab.locator(".banner").count(), 0);
  });
});

test("a stopped node is told at once, and a removed one keeps its pods in its column", async () => {
  await visit(async (page) => {
    const menu = (node) => page.tab.getByRole("button", { name: `${node}: cordon, stop, remove` });
    await menu("node-2").click();
    await page.choose(/^Stop/);
    await page.until("the verdict tells it", async () => /node-2 is silent/.test(await page.text(page.verdict)));
    await menu("node-3").click();
    await page.choose(/^Remove/);
    await page.until("its head says so", async () => /removed/.test(await page.text(page.tab.locator(".nodehead[data-look=removed]"))));
    assert.match(await page.text(page.tab.locator(".nodehead").first()), /not scheduled\s*0/);
  });
});

test("what an image's process does is edited by keyboard, and containers do it", async () => {
  await visit(async (page) => {
    const { keyboard } = page.tab;
    const opener = page.tab.locator("[id^=open-image-]").first();
    await opener.focus();
    await keyboard.press("Enter");
    await page.choose(/^Behaviour…/);
    const dialog = page.tab.getByRole("dialog", { name: /^Behaviour of / });
    await page.until("the first field has the focus", () => page.tab.evaluate(() => document.activeElement.labels?.[0]?.textContent.startsWith("Exit code")));
    await keyboard.type("300");
    await page.until("it is told beside the field", async () => /a whole number from 0 to 255/.test(await page.text(dialog)));
    assert.equal(await dialog.getByRole("button", { name: "Save" }).getAttribute("aria-disabled"), "true");
    await keyboard.press("Control+a");
    await keyboard.type("3");
    await keyboard.press("Tab");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.until("the registry says so", async () => /ends with 3 after 2\s?s/.test(await page.text(page.tab.getByRole("group", { name: "Registry" }))));
    const image = await opener.getAttribute("aria-label");
    await page.kubectl(`kubectl run ends --image=registry.example.com/${image.split(": ")[0]} --restart=Never`);
    await page.press("+10 s");
    assert.match(await page.kubectl("kubectl get pod ends"), /ends +0\/1 +Error/);
  });
});

test("faults stand in groups and are found by their words", async () => {
  await visit(async (page) => {
    await page.button("Faults").click();
    const menu = page.tab.getByRole("menu", { name: "Faults" });
    const groups = await menu.getByRole("group").count();
    assert.ok(groups >= 5, `${groups} groups`);
    await page.tab.getByRole("searchbox", { name: "Search" }).fill("registry throttle");
    await page.until("one is left", async () => (await menu.getByRole("menuitemcheckbox").count()) === 1);
    await page.tab.keyboard.press("ArrowDown");
    await page.tab.keyboard.press("Enter");
    await page.until("it is on", async () => (await page.button("Faults ✦").count()) === 1);
  });
});

test("calm is said once, and the loops say which of them is getting nowhere", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    await page.button("Run until calm").click();
    await page.rest();
    const last = await page.sentence();
    assert.equal(last.match(/Calm/g)?.length ?? 0, 1, last);
    await page.tab.keyboard.press("g");
    const answer = page.tab.locator(".answer");
    assert.match(await page.text(answer), /Which loop is getting nowhere\? The kubelet on node-\d/);
    const box = await answer.boundingBox();
    assert.ok(box.y > 0 && box.y + box.height < 900, "in sight without scrolling");
  });
});

test("Why says how often and when next, and how long the Deployment was silent", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    for (let i = 0; i < 12; i++) await page.press("+1 min");
    const why = await page.text(page.why);
    assert.match(why, /The kubelet asked \d+ times; next in /);
    assert.match(why, /Deployment silent 10m/);
    assert.match(why, /made its pods/);
  });
});

// What can be pressed and is smaller than a finger. Within a sentence a link is as high as its line, and a button in a
// field's label is as large as the label.
const small = (page) => page.tab.evaluate(() => [...document.querySelectorAll("button, a[href], select, input, textarea, summary, [role=tab], [role=treeitem], [role^=menuitem], label:has(input)")]
  .filter((e) => e.checkVisibility() && !e.closest("p, .said, [role=log], pre, .vh") && !(e.matches("input") && e.closest("label")) && !(e.matches("select") && e.closest(".select")?.getBoundingClientRect().height >= 44))
  .map((e) => [`${e.tagName}.${e.className}#${e.id} ${(e.textContent || e.getAttribute("aria-label") || "").trim().slice(0, 30)}`, e.getBoundingClientRect()])
  .filter(([, r]) => r.width > 1 && r.height > 1 && (r.height < 43.5 || r.width < 43.5)).map(([what, r]) => `${what}: ${Math.round(r.width)} x ${Math.round(r.height)}`));

test("at 360 px everything that can be pressed has room for a finger: panels, menus, dialogs, a lesson", async () => {
  await visit(async (page) => {
    const { tab } = page;
    await tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    for (const name of ["Why", "File", "Terminal", "Cluster"]) {
      await tab.locator(".phone-tabs").getByRole("tab", { name, exact: true }).click();
      await page.drawn();
      assert.deepEqual(await small(page), [], name);
    }
    for (const item of [null, /^Lessons/, /^Share/, /^Run until/, /^Who moves/, /^Keyboard/]) {
      await tab.locator("#open-more").click();
      if (item) await page.choose(item);
      await page.until(`${item} is open`, async () => (await tab.locator(".floats, .sheet").count()) > 0);
      if (String(item) === "/^Lessons/") await tab.locator(".course-go").waitFor();
      await page.drawn();
      assert.deepEqual(await small(page), [], String(item));
      await tab.keyboard.press("Escape");
      await page.until(`${item} is closed`, async () => (await tab.locator(".floats, .sheet").count()) === 0);
    }
  }, { width: 360, height: 740 });
  await visit(async (page) => {
    await page.tab.getByRole("form", { name: "Prediction" }).waitFor();
    await page.tab.locator(".lessonbar").getByText(/^1 of/).waitFor();
    assert.deepEqual(await small(page), [], "a lesson");
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false, width: 360, height: 740 });
});

test("a link that begins with 0 is damaged, not newer", async () => {
  await visit(async (page) => {
    await page.until("the row says it", async () => /This link is not whole/.test(await page.text(page.tab.locator(".banner"))));
  }, { fragment: "#0" });
});
