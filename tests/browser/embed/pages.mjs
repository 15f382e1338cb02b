// The recipes of docs/EMBEDDING.md as real pages.
import assert from "node:assert/strict";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { figure, heard, put, read } from "./host.mjs";

const place = (tab, selector) => tab.locator(selector).evaluate((e) => e.getBoundingClientRect().top);

test("plain HTML: a figure that runs when it is seen, one that waits for a click; nothing on the page moves", async () => {
  await read("plain.html", async (tab) => {
    const before = await place(tab, "#after");
    const [ready] = await heard(tab, "ready");
    assert.equal(ready.step, 3);
    const first = figure(tab, "a stuck rollout");
    await first.button("Step").click();
    await first.until("a step is made", async () => (await first.at()) === 4);
    assert.equal(await place(tab, "#after"), before);
    const button = tab.locator("#second").getByRole("button", { name: "Run this figure" });
    assert.match(await tab.locator("#second .poster").textContent(), /^apiVersion: apps\/v1\nkind: Deployment\n/);
    await button.focus();
    await tab.keyboard.press("Enter");
    const second = figure(tab, "two pods");
    await second.tab.getByRole("region", { name: "Manifest" }).waitFor();
    assert.equal(await second.button("Apply").count(), 0);
    await second.until("it can step", () => second.button("Step").isEnabled());
    assert.equal((await tab.locator("#second").boundingBox()).height, 362 - 2);
  });
});

test("a book: its styles stop at the figure, its theme does not", async () => {
  await read("mdbook.html", async (tab) => {
    const scene = figure(tab, "a chapter's figure");
    await scene.tab.getByRole("heading", { name: "Read a green exit code", exact: true }).waitFor({ timeout: 60_000 });
    assert.ok((await tab.locator("kubestep-figure iframe").boundingBox()).height > 400);
    assert.equal(await scene.tab.locator("html").getAttribute("data-theme"), "light");
    await tab.locator("#navy").click();
    await scene.until("it is dark", async () => (await scene.tab.locator("html").getAttribute("data-theme")) === "dark");
  });
});

test("components: mounted, unmounted and mounted again there is one figure; unmounted there is none", async () => {
  // The build for development: strict mode mounts everything twice.
  const entry = fileURLToPath(new URL("react.jsx", import.meta.url));
  const made = buildSync({ entryPoints: [entry], bundle: true, write: false, format: "esm", jsx: "automatic", define: { "process.env.NODE_ENV": '"development"' } });
  put("react-app.js", made.outputFiles[0].text);
  await read("react.html", async (tab) => {
    const first = figure(tab, "first");
    await first.until("it can step", () => first.button("Step").isEnabled(), 60_000);
    assert.equal(await tab.locator("iframe").count(), 1);
    await tab.evaluate(() => window.render({ source: { scenario: "P01" }, title: "second", loading: "eager" }));
    const second = figure(tab, "second");
    await second.until("it can step", () => second.button("Step").isEnabled(), 60_000);
    assert.equal(await tab.locator("iframe").count(), 1);
    await tab.evaluate(() => window.unmount());
    assert.equal(await tab.locator("iframe").count(), 0);
    assert.equal(await tab.locator("#root > *").count(), 0);
  });
});

test("instant navigation: figures go with their article and come with the next", async () => {
  await read("mkdocs.html", async (tab) => {
    const one = figure(tab, "one");
    await one.until("it can step", () => one.button("Step").isEnabled(), 60_000);
    await tab.locator("#to-two").click();
    const two = figure(tab, "two");
    await two.until("it can step", () => two.button("Step").isEnabled(), 60_000);
    assert.equal(await tab.locator("iframe").count(), 1);
    // A node that is moved within a page keeps its figure, though its frame is loaded anew.
    await tab.evaluate(() => { const f = document.querySelector("kubestep-figure"); const was = f.figure; document.querySelector("nav").after(f); window.same = () => f.figure === was; });
    assert.equal(await tab.evaluate(() => window.same()), true);
    await two.until("it can step again", () => two.button("Step").isEnabled(), 60_000);
  });
});

test("a slide that is scaled: the figure is pressed where it is seen", async () => {
  await read("slide.html", async (tab) => {
    const scene = figure(tab, "on a slide");
    await scene.until("its step is shown", async () => (await scene.slider.count()) === 1 && (await scene.at()) === 3, 60_000);
    const box = await tab.locator("iframe").boundingBox();
    assert.ok(box.width > 480 && box.width < 510, `${box.width}`);
    // Where it is seen: its place within the figure, at half its size.
    const inner = await scene.button("Step").evaluate((e) => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; });
    await tab.mouse.click(box.x + inner[0] / 2, box.y + inner[1] / 2);
    await scene.until("a step is made", async () => (await scene.at()) === 4);
  }, { width: 660, height: 380 });
});

test("ten figures: one starts after the other, none while the page is scrolled, nothing moves, none plays off screen", async () => {
  await read("ten.html", async (tab) => {
    await heard(tab, "ready");
    // Scrolled without a rest: what is flown past is not fetched.
    const fetched = await tab.evaluate(async () => {
      const end = document.documentElement.scrollHeight - innerHeight;
      const before = document.querySelectorAll("kubestep-figure").length;
      for (let y = 0; y < end; y += 60) {
        scrollTo(0, y);
        await new Promise(requestAnimationFrame);
      }
      const frames = [...document.querySelectorAll("kubestep-figure")].filter((f) => f.shadowRoot.querySelector("div").firstElementChild.shadowRoot.querySelector("iframe"));
      return { before, now: frames.length };
    });
    assert.equal(fetched.before, 10);
    assert.ok(fetched.now <= 3, `${fetched.now} figures were fetched while the page was scrolled past them`);
    for (let i = 1; i <= 10; i++) {
      await tab.locator(`kubestep-figure[label="number ${i}"]`).scrollIntoViewIfNeeded();
      await tab.waitForFunction((n) => window.heard.some((e) => e.detail === `number ${n}`), i, { timeout: 60_000 });
    }
    assert.equal(await tab.evaluate(() => window.shifts), 0);
    const last = figure(tab, "number 10");
    await last.button("Play").click();
    await last.until("it plays", async () => (await last.at()) > 0);
    await tab.evaluate(() => scrollTo(0, 0));
    const state = () => tab.evaluate(() => document.querySelector('kubestep-figure[label="number 10"]').figure.getState());
    await last.until("it pauses", async () => !(await state()).playing);
    await tab.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await last.until("it goes on", async () => (await state()).playing || (await state()).verdict.kind !== "");
  });
});
