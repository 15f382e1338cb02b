// The page's benchmarks, as JSON lines: never a test, because machines differ. `cargo xtask bench` builds, serves and runs it.
// Times with "cpu" count what the thread used; the others are wall time, and grow with whatever else runs on the machine.
import { readFileSync } from "node:fs";
import { browser, start, stop, visit } from "./page.mjs";

const say = (name, values) => console.log(JSON.stringify({ bench: name, ...values }));
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const round = (n) => Math.round(n * 10) / 10;
const most = (list) => list.reduce((a, b) => Math.max(a, b), 0);

// The distance between pictures, from now on.
const watch = (tab) => tab.evaluate(() => {
  window.frames_seen = [];
  let last = performance.now();
  const tick = (now) => { window.frames_seen.push(now - last); last = now; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
});
const pictures = async (tab) => {
  const frames = await tab.evaluate(() => window.frames_seen);
  return { pictures: frames.length, median_ms: round(quantile(frames, 0.5)), p95_ms: round(quantile(frames, 0.95)), worst_ms: round(most(frames)) };
};

// What the threads of the page and of the simulator did meanwhile: tasks with their wall and CPU time.
async function traced(work) {
  const session = await browser().newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] } });
  const result = await work();
  const done = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await done;
  await session.detach();
  const names = new Map(events.filter((e) => e.name === "thread_name").map((e) => [`${e.pid}/${e.tid}`, e.args.name]));
  const tasks = (thread) => events.filter((e) => e.ph === "X" && /RunTask$/.test(e.name) && thread.test(names.get(`${e.pid}/${e.tid}`) ?? ""));
  const millis = (list, field) => list.map((e) => (e[field] ?? 0) / 1000);
  const [page, worker] = [tasks(/^CrRendererMain/), tasks(/^DedicatedWorker/)];
  return [result, {
    page_cpu_ms: round(millis(page, "tdur").reduce((a, b) => a + b, 0)),
    page_longest_task_cpu_ms: round(most(millis(page, "tdur"))),
    page_longest_task_ms: round(most(millis(page, "dur"))),
    page_tasks_over_50_ms_cpu: millis(page, "tdur").filter((n) => n > 50).length,
    simulator_cpu_ms: round(millis(worker, "tdur").reduce((a, b) => a + b, 0)),
    simulator_longest_task_cpu_ms: round(most(millis(worker, "tdur"))),
  }];
}

// Resident memory of the page's process, simulator included, in MiB.
async function memory() {
  const session = await browser().newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const resident = (id) => {
    try { return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024; } catch { return 0; }
  };
  return Math.round(most(processInfo.filter((p) => p.type === "renderer").map((p) => resident(p.id))));
}

async function calm(page, name) {
  await watch(page.tab);
  const begun = Date.now();
  const [, threads] = await traced(async () => {
    // One run ends after 10,000 steps at most.
    for (let i = 0; i < 5; i++) {
      await page.press("Run until calm", 900_000);
      if (/^Converged/.test(await page.text(page.verdict))) return;
    }
    throw new Error("it does not become calm");
  });
  say(name, { wall_ms: Date.now() - begun, steps: await page.last(), ...(await pictures(page.tab)), ...threads, resident_MiB: await memory() });
}

// Goes to steps all over the run and waits for each to be drawn.
const seeks = (tab, last) => tab.evaluate(async (last) => {
  const slider = document.querySelector("[aria-label=Timeline]");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const times = [];
  for (let i = 1; i <= 40; i++) {
    const step = (i * 7919) % last;
    const begun = performance.now();
    set.call(slider, step);
    slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
    while (!document.querySelector(".clock .label").textContent.startsWith(`step ${step} `)) await new Promise(requestAnimationFrame);
    times.push(performance.now() - begun);
  }
  return times;
}, last);

const big = (replicas) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: big}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: big}}
  template:
    metadata: {labels: {app: big}}
    spec: {containers: [{name: main, image: "registry.example.com/checkout:1.9.1"}]}
`;

// A board of so many pods, stepped, scrolled and walked: what the person's own thread has to do for it.
async function board(pods, nodes) {
  await visit(async (page) => {
    const { tab } = page;
    const heads = () => tab.locator("[id^=open-node-]").count();
    for (let i = await heads(); i < nodes; i++) await page.button("+ node").click();
    await page.press("+10 s");
    await page.write(big(pods));
    await page.apply();
    for (let i = 0; i < 20 && !/^Converged/.test(await page.text(page.verdict)); i++) await page.press("Run until calm", 900_000);
    const drawn = await tab.locator(".board").evaluate((e) => ({ density: Number(e.dataset.density), elements: e.querySelectorAll("*").length, columns: e.querySelectorAll(".nodehead").length - 1 }));
    await page.kubectl(`kubectl scale deployment/big --replicas=${pods - 20}`);
    await watch(tab);
    const [, steps] = await traced(async () => { for (let i = 0; i < 40; i++) await page.press("Step"); });
    say(`${pods} pods, 40 steps while 20 pods go`, { ...drawn, ...(await pictures(tab)), ...steps });
    await watch(tab);
    const box = await tab.locator(".stage").boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const [, scrolled] = await traced(async () => {
      for (let i = 0; i < 60; i++) {
        await tab.mouse.wheel(i % 20 < 10 ? 60 : -60, i < 30 ? 80 : -80);
        await tab.waitForTimeout(16);
      }
    });
    say(`${pods} pods, scrolled`, { ...(await pictures(tab)), ...scrolled, resident_MiB: await memory() });
  });
}

// What a visitor waits for: the first paint, the drawn board, what moved meanwhile, and how long the page's own thread was
// taken (the part of each task over 50 ms), with nothing in the cache. Bytes are as the server sends them, not compressed.
async function load() {
  const loads = { "the page": "", "a lesson": "?lesson=read-a-green-exit-code", "a figure": "?embed#scenario=P05" };
  for (const [name, fragment] of Object.entries(loads)) {
    for (const [width, height, slow] of [[1440, 900, 1], [360, 740, 4]]) {
      const context = await browser().newContext({ viewport: { width, height }, serviceWorkers: "block" });
      const tab = await context.newPage();
      const cdp = await context.newCDPSession(tab);
      await cdp.send("Network.enable");
      await cdp.send("Emulation.setCPUThrottlingRate", { rate: slow });
      let bytes = 0;
      cdp.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
      await tab.addInitScript(() => {
        window.seen = { tasks: [], moved: 0, largest: 0 };
        const on = (type, work) => new PerformanceObserver((list) => list.getEntries().forEach(work)).observe({ type, buffered: true });
        on("longtask", (e) => window.seen.tasks.push(e.duration));
        on("layout-shift", (e) => { window.seen.moved += e.value; });
        on("largest-contentful-paint", (e) => { window.seen.largest = e.startTime; });
      });
      await tab.goto(process.env.KUBESTEP_URL + fragment);
      await tab.waitForFunction(() => performance.getEntriesByName("first-frame").length > 0, null, { timeout: 120_000 });
      await tab.waitForTimeout(2000);
      const seen = await tab.evaluate(() => ({ ...window.seen, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, drawn: performance.getEntriesByName("first-frame")[0].startTime }));
      say(`${name} at ${width} px${slow > 1 ? `, ${slow} times slower` : ""}`, {
        first_paint_ms: Math.round(seen.paint), largest_paint_ms: Math.round(seen.largest), drawn_ms: Math.round(seen.drawn), moved: Math.round(seen.moved * 1000) / 1000,
        long_tasks: seen.tasks.length, longest_ms: Math.round(most(seen.tasks)), blocked_ms: Math.round(seen.tasks.reduce((a, b) => a + b - 50, 0)), MB_uncompressed: Math.round(bytes / 1e4) / 100,
      });
      await context.close();
    }
  }
}

// Documents of ten lines each.
const many = (count) => Array.from({ length: count }, (_, i) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c${i}\n  labels:\n    app: many\ndata:\n  a: "1"\n  b: "2"\n---\n`).join("");

// Types a command and waits for its answer by plain selectors: to find something by its role, the driver itself looks through
// all elements on the page's own thread, which at ten thousand of them is most of what would be measured.
async function typed(tab, line) {
  const answers = () => tab.evaluate(() => document.querySelectorAll(".term pre").length);
  const before = await answers();
  await tab.locator("#kubectl").fill(line);
  await tab.locator("#kubectl").press("Enter");
  await tab.waitForFunction((n) => document.querySelectorAll(".term pre").length > n, before, { timeout: 60_000 });
  await resting(tab);
}

// Waits until no run goes on and what came of the last one is drawn.
async function resting(tab) {
  const drawn = () => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await drawn();
  await tab.waitForFunction(() => document.querySelector(".b-play").getAttribute("aria-pressed") === "false", undefined, { timeout: 900_000 });
  await drawn();
}

// Commands at a thousand pods: what one costs the simulator and the page, and a table that follows while pods go.
async function commands(pods) {
  await visit(async (page) => {
    for (let i = 2; i < pods / 100; i++) await page.button("+ node").click();
    await page.press("+10 s");
    await page.write(big(pods));
    await page.apply();
    await calm(page, `${pods} replicas to calm on the page`);
    for (const line of [
      "get pods", "get pods -o wide", "get pods -o yaml", "get pods -o json", "get pods -o jsonpath={.items[*].metadata.name}",
      "get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName", "get pods --sort-by=.metadata.name", "get events", "events",
      "describe deploy big", "describe node node-1", "wait --for=condition=Ready pod -l app=big --timeout=1s",
    ]) {
      const [, threads] = await traced(() => typed(page.tab, `kubectl ${line}`));
      say(`${pods} pods, kubectl ${line}`, threads);
    }
    await typed(page.tab, "kubectl get pods -w");
    await page.write(big(pods - 100));
    await watch(page.tab);
    const before = await page.last();
    const [, threads] = await traced(async () => {
      await page.tab.keyboard.press("Control+Enter");
      await resting(page.tab);
      await page.tab.evaluate(() => document.querySelector("button[aria-keyshortcuts='c']").click());
      await resting(page.tab);
    });
    say(`${pods} pods, kubectl get pods -w while 100 go`, { steps: (await page.last()) - before, ...(await pictures(page.tab)), ...threads });
  });
}

await start();
try {
  // `node tests/browser/bench.mjs boards` measures the boards alone, `load` what comes before the first picture, `kubectl` the
  // commands.
  const only = process.argv[2];
  const asked = (part) => !only || only === part;
  if (asked("boards")) for (const [pods, nodes] of [[300, 5], [1000, 10], [5000, 50]]) await board(pods, nodes);
  if (asked("load")) await load();
  if (asked("kubectl")) await commands(1000);
  if (!only) await others();
} finally {
  await stop();
}

async function others() {
  // The first picture: from the navigation to the drawn board, from a warm HTTP cache.
  await visit(async (page) => {
    const times = [];
    for (let i = 0; i < 7; i++) {
      await page.tab.reload();
      await page.ready();
      times.push(await page.tab.evaluate(() => performance.getEntriesByName("first-frame")[0]?.startTime ?? NaN));
    }
    say("first picture, warm cache", { median_ms: round(quantile(times, 0.5)), best_ms: round(Math.min(...times)), worst_ms: round(most(times)), resident_MiB: await memory() });
  });

  for (const replicas of [30, 300]) {
    await visit(async (page) => {
      await page.kubectl(`kubectl scale deployment/checkout --replicas=${replicas}`);
      await calm(page, `${replicas} replicas behind a Service to calm on the page`);

      await watch(page.tab);
      const before = await page.at();
      const [, back] = await traced(async () => {
        for (let i = 1; i <= 40; i++) await page.press("Back");
      });
      say(`${replicas} replicas, 40 times Back`, { steps: before - (await page.at()), ...(await pictures(page.tab)), ...back });

      await watch(page.tab);
      const box = await page.slider.boundingBox();
      const [, drag] = await traced(async () => {
        await page.tab.mouse.move(box.x + box.width - 40, box.y + 20);
        await page.tab.mouse.down();
        for (let i = 0; i < 120; i++) await page.tab.mouse.move(box.x + box.width - 40 - i * 8, box.y + 20);
        await page.tab.mouse.up();
        await page.tab.waitForTimeout(500);
      });
      say(`${replicas} replicas, dragging time`, { ...(await pictures(page.tab)), ...drag });

      await watch(page.tab);
      await page.manifest.focus();
      const [, typing] = await traced(() => page.tab.keyboard.type("# a comment of some forty characters ...", { delay: 20 }));
      say(`${replicas} replicas, typing 40 characters`, { ...(await pictures(page.tab)), ...typing });
    });
  }

  // A hundred edits at eight keys a second in a file of a thousand lines.
  await visit(async (page) => {
    await page.tab.locator(".cm-content").waitFor();
    await page.write(many(100).trimEnd());
    await page.tab.waitForTimeout(2000);
    await page.manifest.focus();
    await page.tab.keyboard.press("Control+End");
    await watch(page.tab);
    const [, typing] = await traced(() => page.tab.keyboard.type("# ".padEnd(100, "a comment in the middle of a long file "), { delay: 125 }));
    say("100 edits at 8 keys a second in 1,000 lines", { ...(await pictures(page.tab)), ...typing });
  });

  // The check of a file of fifty documents, in the simulator's thread.
  await visit(async (page) => {
    await page.write(many(50));
    await page.tab.waitForTimeout(2000);
    const [, check] = await traced(async () => {
      await page.write(many(50) + "# again\n");
      await page.until("it was checked", async () => (await page.tab.locator(".strip").allInnerTexts()).some((t) => /50 new/.test(t)));
      await page.tab.waitForTimeout(500);
    });
    say("a check of 50 documents", check);
  });

  await visit(async (page) => {
    for (let i = 0; i < 7; i++) await page.button("+ node").click();
    await page.press("+10 s");
    await page.until("ten nodes", async () => (await page.tab.locator("[id^=open-node-]").count()) === 10);
    await page.write(big(1000));
    await page.apply();
    await calm(page, "1,000 replicas on ten nodes to calm on the page");
    const last = await page.last();
    const times = await seeks(page.tab, last);
    say(`seek in ${last} steps with 1,000 pods, until it is drawn`, { median_ms: round(quantile(times, 0.5)), p95_ms: round(quantile(times, 0.95)), worst_ms: round(most(times)), resident_MiB: await memory() });
  });
}
