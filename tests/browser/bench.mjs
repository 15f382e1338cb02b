// The page's benchmarks, as JSON lines: never a test, because machines differ. `cargo xtask bench` builds, serves and runs it.
import { start, stop, visit } from "./page.mjs";

const say = (name, values) => console.log(JSON.stringify({ bench: name, ...values }));
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const round = (n) => Math.round(n * 10) / 10;

// Long tasks (over 50 ms) and the distance between pictures, from now on.
const watch = (tab) => tab.evaluate(() => {
  window.seen = { long: [], frames: [] };
  new PerformanceObserver((l) => window.seen.long.push(...l.getEntries().map((e) => e.duration))).observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  const tick = (now) => { window.seen.frames.push(now - last); last = now; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
});
const watched = async (tab) => {
  const { long, frames } = await tab.evaluate(() => window.seen);
  return { pictures: frames.length, median_ms: round(quantile(frames, 0.5)), p95_ms: round(quantile(frames, 0.95)), worst_ms: round(Math.max(...frames)), long_tasks: long.length, longest_task_ms: round(Math.max(0, ...long)) };
};

await start();
try {
  // The first picture: from the navigation to the drawn board, from a warm HTTP cache.
  await visit(async (page) => {
    const times = [];
    for (let i = 0; i < 5; i++) {
      await page.tab.reload();
      await page.ready();
      times.push(await page.tab.evaluate(() => performance.getEntriesByName("first-frame")[0]?.startTime ?? NaN));
    }
    say("first picture, warm cache", { median_ms: round(quantile(times, 0.5)), worst_ms: round(Math.max(...times)) });
  });

  for (const replicas of [30, 300]) {
    await visit(async (page) => {
      await page.kubectl(`kubectl scale deployment/checkout --replicas=${replicas}`);
      await watch(page.tab);
      const begun = Date.now();
      await page.button("Run until calm").click();
      await page.until("it is calm", async () => /^Converged/.test(await page.text(page.verdict)), 600_000);
      await page.rest();
      say(`${replicas} replicas to calm on the page`, { wall_ms: Date.now() - begun, steps: await page.last(), ...(await watched(page.tab)) });

      await watch(page.tab);
      const before = await page.at();
      for (let i = 1; i <= 40; i++) await page.press("Back");
      say(`${replicas} replicas, 40 times Back`, { steps: before - (await page.at()), ...(await watched(page.tab)) });

      await watch(page.tab);
      const box = await page.slider.boundingBox();
      await page.tab.mouse.move(box.x + box.width - 40, box.y + 20);
      await page.tab.mouse.down();
      for (let i = 0; i < 120; i++) await page.tab.mouse.move(box.x + box.width - 40 - i * 8, box.y + 20);
      await page.tab.mouse.up();
      await page.tab.waitForTimeout(500);
      say(`${replicas} replicas, dragging time`, await watched(page.tab));
    });
  }
} finally {
  await stop();
}
