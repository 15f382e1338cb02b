// Light and dark, wide and narrow, the teacher silent: axe finds nothing, nothing scrolls sideways, nothing moves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { visit } from "./page.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function clean(page, where) {
  await page.tab.evaluate(axe);
  const found = await page.tab.evaluate(async () => {
    const result = await window.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  });
  assert.deepEqual(found, [], where);
  const sideways = await page.tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(sideways <= 0, `${where}: ${sideways} px too wide`);
}

for (const [width, height] of [[1440, 900], [1024, 768], [360, 740]]) {
  for (const dark of [false, true]) {
    const where = `${width} px, ${dark ? "dark" : "light"}`;
    test(`axe finds nothing at ${where}`, async () => {
      await visit(async (page) => {
        await clean(page, `${where}, the start`);
        await page.tab.keyboard.press("Control+Enter");
        await page.press("Run until calm");
        await clean(page, `${where}, stalled`);
        await page.tab.keyboard.press("g");
        await clean(page, `${where}, loops`);
      }, { width, height, dark, still: true });
    });
  }
}

test("axe finds nothing on the inspector's tabs and in what floats", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    for (const tab of ["Describe", "YAML", "Events", "History"]) {
      await page.tab.getByRole("tab", { name: tab, exact: true }).click();
      await page.until(`${tab} is there`, async () => (await page.text(page.tab.getByRole("tabpanel"))).length > 40);
      await clean(page, tab);
    }
    for (const name of ["Break it", "Faults", "Until…", "Share"]) {
      await page.button(name).click();
      await page.tab.locator(".breakmenu").waitFor();
      await clean(page, name);
      await page.tab.keyboard.press("Escape");
      await page.tab.locator(".breakmenu").waitFor({ state: "detached" });
    }
    await page.tab.locator("[id^=open-image-]").first().click();
    await page.choose(/^Behaviour…/);
    await page.tab.getByRole("dialog", { name: /^Behaviour of / }).waitFor();
    await clean(page, "an image's behaviour");
    await page.tab.keyboard.press("Escape");
    await page.tab.locator(".breakmenu").waitFor({ state: "detached" });
    await page.tab.keyboard.press("?");
    await page.tab.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await clean(page, "keys");
  }, { still: true });
});

test("axe finds nothing where there are several terminals", async () => {
  for (const [width, height] of [[1440, 900], [360, 740]]) {
    await visit(async (page) => {
      if (width < 720) await page.tab.getByRole("tab", { name: "Terminal", exact: true }).click();
      for (let more = 0; more < 8; more++) await page.button("New terminal").click();
      await page.until("nine", async () => (await page.tab.getByRole("tablist", { name: "Terminals" }).getByRole("tab").count()) === 9);
      await page.kubectl("kubectl get pods -w");
      await clean(page, `nine terminals at ${width} px`);
      await page.button("Close this terminal").click();
      await page.until("eight", async () => (await page.tab.getByRole("tablist", { name: "Terminals" }).getByRole("tab").count()) === 8);
    }, { width, height, still: true });
  }
});

test("with the teacher off no word of his is left", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    await page.tab.getByRole("switch", { name: "Teacher's voice" }).click();
    await page.until("he is silent", async () => /^Gap open/.test(await page.verdict.innerText()));
    const seen = await page.tab.evaluate(() => [...document.querySelectorAll(".teacher, [data-voice=teacher]")].filter((e) => e.offsetParent !== null).map((e) => e.outerHTML.slice(0, 80)));
    assert.deepEqual(seen, []);
    assert.match(await page.verdict.innerText(), /Progressing=True/);
    await clean(page, "teacher off");
  }, { still: true });
});

test("nothing moves while stepping", async () => {
  await visit(async (page) => {
    await page.apply();
    const places = () => page.tab.evaluate(() => Object.fromEntries(["#apply", "#break-it", "[aria-label=Step]", ".registry", "[role=tree] [role=treeitem]", "#tab-why", "#kubectl", ".verdict", "[aria-label=Timeline]"].map((s) => {
      const r = document.querySelector(s).getBoundingClientRect();
      return [s, [r.left, r.top, r.height].map(Math.round).join()];
    })));
    const before = await places();
    for (let i = 0; i < 24; i++) {
      await page.press("Step");
      assert.deepEqual(await places(), before, await page.sentence());
    }
  });
});

test("axe finds nothing in a lesson, in every dialog and menu, and on the pages beside", async () => {
  await visit(async (page) => {
    const { tab } = page;
    await tab.getByRole("form", { name: "Prediction" }).waitFor();
    await clean(page, "a lesson that asks");
    await page.button("Skip").click();
    await tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    await page.button("Hint").click();
    await tab.locator(".hint:not(.answered)").waitFor();
    await clean(page, "a lesson with an answer and a hint");
    for (const opener of ["#open-course", "#open-models", "#open-file", "#open-moves", "#open-until", "#open-steps", "[id^=open-node-]", "[id^=open-image-]"]) {
      const button = tab.locator(opener).first();
      await button.click();
      await page.until(`${opener} opens`, async () => (await tab.locator(".floats, .sheet, [role=log].is-open").count()) > 0);
      await clean(page, opener);
      await tab.keyboard.press("Escape");
      // The log stays until it is pressed again, or Esc in it.
      if (opener === "#open-steps" && (await tab.locator("[role=log].is-open").count())) await button.click();
      await page.until(`${opener} closes`, async () => (await tab.locator(".floats, .sheet, [role=log].is-open").count()) === 0);
    }
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false, still: true });
  for (const name of ["author.html", "author.html?lang=de", "class.html", "verify.html", "?embed&lesson=read-a-green-exit-code&show=lesson,board,verdict,steps"]) {
    await visit(async (page) => {
      await page.until(`${name} is there`, async () => (await page.tab.locator("main, .app, section").count()) > 0);
      if (name.startsWith("author")) await page.tab.locator("body[data-ready]").waitFor();
      if (name.startsWith("?")) await page.tab.locator(".lesson h1").waitFor();
      await clean(page, name);
    }, { fragment: name, ready: false, still: true });
  }
});
