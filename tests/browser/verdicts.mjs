// Refused files of the recorded corpus, written into the editor: the mark stands in the line, the list of problems says
// what kubectl said, and so does the output of Apply.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { visit } from "./page.mjs";

const FOLDER = new URL("../golden/verdicts/", import.meta.url);
// Of every area so many, spread over it.
const PER_AREA = 5;

// The corpus is written in one plain form; its other forms are left to the native test, which reads them all.
function manifests(text) {
  const found = new Map();
  for (const part of text.split(/^ {2}- name: /m).slice(1)) {
    const name = part.split("\n")[0].trim();
    const keys = [...part.matchAll(/^ {4}(\w+):/gm)].map((m) => m[1]).filter((k) => !["about", "unordered"].includes(k));
    const block = part.match(/^ {4}manifest: \|[-+]?\n((?: {6}.*\n|\n)*)/m);
    if (keys.join() === "manifest" && block && !block[1].includes("${repeat")) found.set(name, block[1].replace(/^ {6}/gm, ""));
  }
  return found;
}

// Cases that the server answers with the fields it means.
function cases() {
  const all = [];
  for (const file of readdirSync(FOLDER).filter((f) => f.endsWith(".json"))) {
    const texts = manifests(readFileSync(new URL(file.replace(".json", ".yaml"), FOLDER), "utf8"));
    const records = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")).cases;
    const good = records.filter((r) => r.exit === 1 && texts.has(r.name) && r.http?.some((h) => h.causes?.length));
    const step = Math.max(1, Math.floor(good.length / PER_AREA));
    for (const r of good.filter((_, i) => i % step === 0).slice(0, PER_AREA)) {
      all.push({ name: `${file}: ${r.name}`, text: texts.get(r.name), stderr: r.stderr, causes: r.http.flatMap((h) => h.causes || []) });
    }
  }
  return all;
}

test("what is refused is said in the editor, in the list of problems and by Apply", async () => {
  const all = cases();
  assert.ok(all.length >= 30, `${all.length} cases`);
  await visit(async (page) => {
    await page.tab.locator(".cm-content").waitFor();
    const list = page.tab.getByRole("group", { name: "Problems" });
    for (const { name, text, stderr, causes } of all) {
      await page.write(text);
      const said = causes.map((c) => `${c.field}: ${c.message}`.replace(/\s+/g, " ").trim());
      await page.until(`${name}: the list says it`, async () => said.some((s) => s.includes("uid-")) || said.includes((await list.locator(".whole").textContent({ timeout: 1000 }).catch(() => ""))?.replace(/\s+/g, " ").trim()));
      const [line] = (await page.text(list.locator(".pos"))).split(":").map(Number);
      assert.ok(line >= 1 && line <= text.split("\n").length, `${name}: line ${line}`);
      await page.until(`${name}: a mark in the gutter`, async () => (await page.tab.locator(".cm-lint-marker-error").count()) > 0);
      await list.getByRole("button", { name: "Go to line" }).click();
      await page.until(`${name}: the line is shown`, async () => (await page.text(page.tab.locator(".cm-lineNumbers .cm-activeLineGutter"))) === String(line));
      await page.apply();
      const first = stderr.trim().split("\n")[0].replace(/\s+/g, " ").trim();
      await page.until(`${name}: Apply says it`, async () => { const output = await page.text(page.output); return output.includes(first) && /exit 1/.test(output); });
    }
  });
});

test("a wrong name is mended with one press", async () => {
  await visit(async (page) => {
    const text = (await page.file()).replace("replicas: 3", "replica: 3");
    await page.write(text);
    const change = page.button("Change it");
    await change.waitFor();
    assert.match(await page.text(page.tab.locator(".strip-note").first()), /Did you mean replicas\?/);
    await change.click();
    await page.until("the file is mended", async () => /replicas: 3/.test(await page.file()));
    await page.until("nothing is wrong", async () => /No problems/.test(await page.text(page.tab.getByRole("group", { name: "Problems" }))));
  });
});

test("what Apply would change is counted in objects", async () => {
  await visit(async (page) => {
    const one = (i) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c${i}}\ndata: {a: b}\n`;
    await page.write(Array.from({ length: 300 }, (_, i) => one(i)).join("---\n"));
    await page.until("300 new", async () => (await page.tab.locator(".strip").allInnerTexts()).some((t) => /Would change\s+300 new$/.test(t.trim())));
  });
});

test("F1 tells what the field under the cursor is", async () => {
  await visit(async (page) => {
    const above = (await page.file()).split("\n").findIndex((l) => /replicas: 3/.test(l));
    await page.manifest.focus();
    await page.tab.keyboard.press("Control+Home");
    for (let i = 0; i < above; i++) await page.tab.keyboard.press("ArrowDown");
    await page.tab.keyboard.press("End");
    await page.tab.keyboard.press("F1");
    const help = page.tab.locator(".field-help");
    await help.waitFor();
    assert.match(await page.text(help), /Deployment\.spec\.replicas integer · 1 if left out .*pods/);
    await page.tab.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.tab.locator(".cm-line", { hasText: "image:" }).first().hover();
    await help.waitFor();
    assert.match(await page.text(help), /Deployment\.spec\.template\.spec\.containers\.image string/);
  });
});
