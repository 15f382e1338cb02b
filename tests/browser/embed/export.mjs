// What a person takes away from a moment: pictures, steps, a script, a lesson; and the page where a lesson is written.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { Page, browser } from "../page.mjs";
import { SITE, put, read } from "./host.mjs";

async function visit(path, work, options = {}) {
  const context = await browser().newContext({ viewport: { width: 1300, height: 900 }, acceptDownloads: true, ...options });
  const errors = [];
  try {
    const tab = await context.newPage();
    tab.on("pageerror", (e) => errors.push(String(e)));
    await tab.goto(path);
    await work(tab, context);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

async function saved(tab, name) {
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name, exact: true }).click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** The opening story, stuck, with *Share* open. */
async function share(tab) {
  const page = new Page(tab);
  await page.ready();
  await page.apply();
  await page.button("Run until calm").click();
  await page.until("it is stalled", async () => /Stalled/.test(await page.text(page.verdict)), 60_000);
  await page.button("Share").click();
  await tab.getByRole("button", { name: "Picture (SVG)" }).waitFor();
}

test("the board is saved as a drawing of its own, light whatever the page is", async () => {
  await visit(SITE, async (tab) => {
    await share(tab);
    const { name, bytes } = await saved(tab, "Picture (SVG)");
    assert.match(name, /^[\w-]+\.svg$/);
    const text = bytes.toString();
    assert.ok(!/foreignObject|<script|class=/.test(text), "nothing in it needs this page");
    const seen = await tab.evaluate((svg) => {
      const page = new DOMParser().parseFromString(svg, "image/svg+xml");
      return {
        wrong: page.querySelector("parsererror")?.textContent ?? "", words: [...page.querySelectorAll("text")].map((t) => t.textContent).join("|"),
        shapes: page.querySelectorAll("rect, path, circle").length, ground: page.querySelector("rect").getAttribute("fill"),
      };
    }, text);
    assert.equal(seen.wrong, "");
    for (const word of ["checkout", "node-1", "ReplicaSet", "Deployment"]) assert.ok(seen.words.includes(word), `${word} in ${seen.words}`);
    assert.ok(seen.shapes > 20, String(seen.shapes));
    assert.equal(seen.ground, "#fcfcfb");
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark", "the page stays dark");
    const png = (await saved(tab, "Picture (PNG)")).bytes;
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    const [, width] = text.match(/width="(\d+)"/);
    assert.equal(png.readUInt32BE(16), Number(width) * 2, "twice as fine");
    if (process.env.KUBESTEP_PICTURES) await (await import("node:fs/promises")).writeFile(`${process.env.KUBESTEP_PICTURES}/board.png`, png);
  }, { colorScheme: "dark" });
});

test("steps and a script are made of the run", async () => {
  await visit(SITE, async (tab) => {
    await share(tab);
    const steps = (await saved(tab, "Steps (Markdown)")).bytes.toString();
    assert.match(steps, /^# .+\n/);
    assert.match(steps, /\n\d+\. \+0s .*kubectl apply -f checkout\.yaml/);
    assert.match(steps, /\*\*Stalled\*\* after/);
    const { name, bytes } = await saved(tab, "Take it to a real cluster");
    assert.match(name, /\.sh$/);
    assert.match(bytes.toString(), /^#!\/bin\/sh\n[^]*cat > checkout\.yaml <<'KUBESTEP'\n[^]*\nrun kubectl apply -f checkout\.yaml\n/);
    assert.equal(spawnSync("sh", ["-n"], { input: bytes }).status, 0);
  });
});

test("a run is saved as a lesson, which is checked while it is written, and played", async () => {
  await visit(SITE, async (tab, context) => {
    await share(tab);
    const [mine] = await Promise.all([context.waitForEvent("page"), tab.getByRole("link", { name: "Save this run as a lesson" }).click()]);
    const text = mine.getByRole("textbox", { name: "The lesson" });
    await mine.getByText("It proves itself. Some words are still to be written.").waitFor({ timeout: 60_000 });
    const made = await text.inputValue();
    assert.match(made, /```yaml solution\n[^]*- kubectl: apply -f checkout\.yaml/);
    assert.match(made, /```yaml goal\nsay: .*\nis: .*/);
    await text.fill(made.replace(/(```yaml solution\n)[^]*?```/, "$1- wait: 1\n```"));
    await mine.getByRole("list", { name: "Problems" }).getByText("The solution does not meet this goal").first().waitFor({ timeout: 60_000 });
    await text.fill(made);
    await mine.getByText("It proves itself. Some words are still to be written.").waitFor({ timeout: 60_000 });
    const file = await saved(mine, "Download");
    assert.deepEqual([file.name, file.bytes.toString()], ["my-lesson.md", made]);
    const words = made.replace(/^title: .*$/m, "title: Mine, put back");
    await text.fill(words);
    await mine.reload();
    await mine.locator("body[data-ready]").waitFor();
    assert.equal(await text.inputValue(), words, "what was written outlives a reload");
    await mine.getByRole("button", { name: "Play it" }).click();
    const goals = await mine.evaluate(async () => (await window.kubestepFigure.getState()).lesson.goals.length);
    assert.ok(goals >= 1);
    await mine.goto(`${SITE}author.html#1broken`);
    await mine.reload();
    await mine.getByRole("status", { name: "Check" }).getByText(/missing|changed|characters/).waitFor();
  });
});

test("the handbook's example page shows its figure", async () => {
  const page = await readFile(new URL("../../../docs/examples/page.html", import.meta.url), "utf8");
  put("example.html", page.replaceAll("https://kubestep.example/", SITE));
  await read("example.html", async (tab) => {
    await tab.locator("kubestep-figure").scrollIntoViewIfNeeded();
    const inside = tab.frameLocator("kubestep-figure iframe");
    await inside.getByRole("button", { name: "Run until calm" }).click();
    await inside.getByRole("treeitem", { name: /^Pod .*, ready|^Pod .*Running/ }).nth(2).waitFor();
  });
});
