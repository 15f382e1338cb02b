// Every lesson of the map is opened by its address and played by its shown way to the debrief, in both languages in turn.
import assert from "node:assert/strict";
import test from "node:test";
import { browser, visit } from "./page.mjs";

// So many pages at once: the test is bound by the simulator, not by the page.
const TOGETHER = 2;
const SPOKEN = {
  en: { show: "Show me", debrief: "Debrief", lesson: "Lesson", skip: "Skip", calm: "Run until calm", minute: "+1 min" },
  de: { show: "Zeig es mir", debrief: "Rückblick", lesson: "Lektion", skip: "Überspringen", calm: "Laufen bis zur Ruhe", minute: "+1 min" },
};

async function play(lesson, language) {
  const words = SPOKEN[language];
  await visit(async (page) => {
    const { tab } = page;
    const pane = tab.getByRole("region", { name: words.lesson, exact: true });
    await pane.getByRole("heading", { level: 1 }).first().waitFor({ timeout: 60_000 });
    assert.equal(await page.text(pane.getByRole("heading", { level: 1 }).first()), lesson.words[language].title);
    const show = page.button(words.show);
    const end = tab.getByRole("region", { name: words.debrief, exact: true });
    for (let i = 0; i < 40 && (await show.isEnabled()) && !(await end.count()); i++) {
      const before = await tab.locator(".clock").textContent();
      await show.click();
      const moved = async () => (await tab.locator(".clock").textContent()) !== before || !(await show.isEnabled()) || (await end.count()) > 0;
      for (let n = 0; n < 400 && !(await moved()); n++) await tab.waitForTimeout(25);
    }
    for (let i = 0; i < 10 && !(await end.count()); i++) {
      await page.button(words.minute).click();
      await tab.waitForTimeout(300);
    }
    assert.equal(await end.count(), 1, `${lesson.id} is not solved by its own way; goals: ${await page.text(pane.getByRole("list").last())}`);
  }, { fragment: `?lesson=${lesson.id}&lang=${language}`, ready: false });
}

test("every lesson is played to its end by its own way", async () => {
  const context = await browser().newContext();
  const answer = await context.request.get(new URL("lessons/index.json", process.env.KUBESTEP_URL).href);
  const { lessons } = await answer.json();
  await context.close();
  assert.ok(lessons.length >= 42, `${lessons.length} lessons`);
  const wrong = [];
  const queue = lessons.map((lesson, i) => [lesson, i % 2 ? "de" : "en"]);
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      await play(...next).catch((e) => wrong.push(`${next[0].id} (${next[1]}): ${e.message.split("\n")[0]}`));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, worker));
  assert.deepEqual(wrong, []);
});
