// A class from its link to the teacher's table, and as a package in a learning platform.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { browser } from "../page.mjs";
import { SITE, host, put } from "./host.mjs";

const LESSON = "follow-one-edit-through-the-loops";

async function visit(path, work) {
  const context = await browser().newContext({ viewport: { width: 1300, height: 900 }, acceptDownloads: true });
  const errors = [];
  try {
    const tab = await context.newPage();
    tab.on("pageerror", (e) => errors.push(String(e)));
    await tab.goto(path);
    await work(tab);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

async function saved(tab, button) {
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: button }).click()]);
  return readFile(await download.path());
}

/** Solves the lesson as a learner does, who has read it: by the lines of its solution, typed. */
const solve = (tab, figure) => tab.evaluate(async (expression) => {
  const figure = expression === "class" ? window.kubestepFigure : window.figure;
  let state = await figure.getState();
  const skip = async () => {
    while (state.lesson.asks !== null) state = await figure.predict(state.lesson.asks, null);
  };
  await skip();
  await figure.apply(state.files[0].text);
  for (let i = 0; i < 40 && state.lesson.solved === null; i++) {
    state = await figure.advance(10000);
    await skip();
  }
  return state.lesson;
}, figure);

let link = "";
let result = "";

test("the teacher makes a class and gets a link", async () => {
  await visit(`${SITE}class.html`, async (tab) => {
    await tab.getByRole("textbox", { name: "Code" }).fill("k8s-1");
    await tab.getByRole("checkbox", { name: "Follow one edit through the loops" }).check();
    await tab.getByRole("checkbox", { name: "Send it twice" }).check();
    link = await tab.getByRole("textbox", { name: "The class’ link" }).inputValue();
    assert.match(link, /class\.html#1[\w-]+$/);
  });
});

test("a learner works through it, one lesson after the other, and saves a file", async () => {
  await visit(link, async (tab) => {
    await tab.getByRole("textbox", { name: "Your name" }).fill("Ada");
    assert.ok(await tab.getByRole("button", { name: "Send it twice" }).isDisabled());
    await tab.getByRole("button", { name: "Follow one edit through the loops" }).click();
    const lesson = await solve(tab, "class");
    assert.notEqual(lesson.solved, null);
    await tab.getByText("solved. It is in your result.").waitFor();
    assert.ok(await tab.getByRole("button", { name: "Send it twice" }).isEnabled());
    result = (await saved(tab, "Save my result")).toString();
    const value = JSON.parse(result);
    assert.deepEqual([value.kubestep, value.class, value.learner, value.lessons.length], ["result", "k8s-1", "Ada", 1]);
    const [statement] = JSON.parse((await saved(tab, "Save xAPI statements")).toString());
    assert.equal(statement.verb.id, "http://adlnet.gov/expapi/verbs/completed");
    assert.deepEqual([statement.actor.name, statement.result.success, statement.object.id], ["Ada", true, `${SITE}?lesson=${LESSON}`]);
    assert.match(statement.result.duration, /^PT\d+S$/);
    // What is under way counts with the time it has taken so far.
    await tab.getByRole("button", { name: "Send it twice" }).click();
    await tab.evaluate(() => window.kubestepFigure.getState());
    await tab.evaluate(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 180_000;
    });
    const later = JSON.parse((await saved(tab, "Save my result")).toString());
    assert.deepEqual(later.lessons.map((l) => [l.id, l.minutes >= 3]), [[LESSON, false], ["send-it-twice", true]]);
  });
});

test("the teacher's page plays the files again, and believes none", async () => {
  await visit(`${SITE}verify.html`, async (tab) => {
    const forged = JSON.stringify({ ...JSON.parse(result), learner: "Mallory", lessons: [{ id: "send-it-twice", link: JSON.parse(result).lessons[0].link }, { id: LESSON, link: "1AAAAAAAA" }] });
    await tab.getByLabel("Results").first().setInputFiles([
      { name: "ada.kubestep.json", mimeType: "application/json", buffer: Buffer.from(result) },
      { name: "mallory.json", mimeType: "application/json", buffer: Buffer.from(forged) },
      { name: "noise.json", mimeType: "application/json", buffer: Buffer.from("{nothing") },
    ]);
    await tab.getByRole("status").getByText("1 of 4 solved.").waitFor({ timeout: 90_000 });
    const rows = await tab.locator("tbody tr").evaluateAll((list) => list.map((r) => [...r.cells].map((c) => c.textContent)));
    assert.deepEqual(rows[0].slice(0, 3), ["Ada", LESSON, "yes"]);
    assert.match(rows[1][8], /it says send-it-twice/);
    assert.deepEqual(rows.slice(1).map((r) => r[2]), ["no", "no", "no"]);
    assert.ok(rows.slice(1).every((r) => r[8].length > 5));
    const csv = (await saved(tab, "Save as CSV")).toString();
    assert.match(csv, new RegExp(`^class,learner,lesson,.*\\nk8s-1,Ada,${LESSON},true,0,`));
  });
});

/** The files of a zip that stores them as they are. */
function unzip(bytes) {
  const files = {};
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50;) {
    const [size, name] = [bytes.readUInt32LE(at + 22), bytes.readUInt16LE(at + 26)];
    files[bytes.toString("utf8", at + 30, at + 30 + name)] = bytes.toString("utf8", at + 30 + name, at + 30 + name + size);
    at += 30 + name + size;
  }
  return files;
}

test("a SCORM 1.2 package runs in a platform and reports that the lesson is completed", async () => {
  let files = {};
  await visit(`${SITE}class.html`, async (tab) => {
    await tab.getByRole("checkbox", { name: "Follow one edit through the loops" }).check();
    files = unzip(await saved(tab, "Save as SCORM 1.2 package"));
  });
  assert.deepEqual(Object.keys(files), ["imsmanifest.xml", `${LESSON}.html`]);
  assert.match(files["imsmanifest.xml"], /<schemaversion>1\.2<\/schemaversion>/);
  await visit(`${host()}lms.html`, async (tab) => {
    put(`${LESSON}.html`, files[`${LESSON}.html`]);
    await tab.evaluate((address) => window.open_sco(address), `${host()}${LESSON}.html`);
    await tab.waitForFunction(() => window.calls.some((c) => c[1] === "cmi.core.lesson_status" && c[2] === "incomplete"));
    const outer = tab.frameLocator("iframe");
    const inner = outer.frameLocator("iframe");
    await inner.getByRole("button", { name: "Skip" }).waitFor({ timeout: 60_000 });
    const stop = Date.now() + 60_000;
    const skip = async () => { while (await inner.getByRole("button", { name: "Skip" }).count()) { await inner.getByRole("button", { name: "Skip" }).click({ timeout: 1000 }).catch(() => {}); await tab.waitForTimeout(100); } };
    await skip();
    await inner.getByRole("tab", { name: "checkout.yaml" }).click();
    await inner.getByRole("button", { name: "Apply" }).click();
    await inner.getByRole("tab", { name: "Lesson" }).click();
    while (Date.now() < stop && !(await tab.evaluate(() => window.data["cmi.core.score.raw"]))) {
      await skip();
      await inner.getByRole("button", { name: "+10 s" }).click({ timeout: 2000 }).catch(() => {});
      await tab.waitForTimeout(150);
    }
    assert.equal(await tab.evaluate(() => window.data["cmi.core.lesson_status"]), "completed");
    await tab.evaluate(() => document.querySelector("iframe").remove());
    await tab.waitForFunction(() => window.calls.some((c) => c[0] === "LMSFinish"));
    assert.equal(await tab.evaluate(() => window.API.LMSGetLastError()), "0");
    assert.match(await tab.evaluate(() => window.data["cmi.core.session_time"]), /^\d{4}:\d\d:\d\d$/);
  });
});
