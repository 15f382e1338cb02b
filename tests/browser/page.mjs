// What the tests share: a browser, pages that must stay free of errors, and the page's parts by role and name.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const URL_OF_SITE = process.env.KUBESTEP_URL;
// So many times slower the page runs than this machine can: `KUBESTEP_SLOW=4` shows what a test takes for granted.
const SLOW = Number(process.env.KUBESTEP_SLOW || 1);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

let chrome;

export async function start() {
  assert.ok(URL_OF_SITE, "KUBESTEP_URL is not set: run `cargo xtask test`");
  chrome = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: FLAGS });
}

// The browser itself, for measurements.
export const browser = () => chrome;

export async function stop() {
  await chrome?.close();
}

// Opens the page, runs the test, and fails it if the page logged an error.
export async function visit(work, { fragment = "", width = 1440, height = 900, dark = false, still = false, init, allow, routes = [], ready = true } = {}) {
  // What the service worker fetches, or has, goes past the routes.
  const context = await chrome.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: still ? "reduce" : "no-preference", serviceWorkers: routes.length ? "block" : "allow" });
  const errors = [];
  const watch = (p) => {
    p.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    p.on("pageerror", (e) => errors.push(String(e)));
  };
  try {
    if (init) await context.addInitScript(init);
    const tab = await context.newPage();
    watch(tab);
    if (SLOW > 1) await (await context.newCDPSession(tab)).send("Emulation.setCPUThrottlingRate", { rate: SLOW });
    for (const [pattern, handler] of routes) await tab.route(pattern, handler);
    await tab.goto(URL_OF_SITE + fragment);
    const page = new Page(tab);
    if (ready) await page.ready();
    await work(page);
    assert.deepEqual(errors.filter((e) => !allow?.test(e)), [], "the page logged errors");
  } finally {
    await context.close();
  }
}

export class Page {
  constructor(tab) {
    this.tab = tab;
  }

  button(name) { return this.tab.getByRole("button", { name, exact: true }); }
  get manifest() { return this.tab.getByRole("textbox", { name: "Manifest", exact: true }); }
  get output() { return this.tab.getByRole("region", { name: "Apply output" }); }
  get verdict() { return this.tab.getByRole("status", { name: "Verdict" }); }
  get steps() { return this.tab.getByRole("log", { name: "Steps" }); }
  get terminal() { return this.tab.getByRole("log", { name: "Terminal" }); }
  get why() { return this.tab.getByRole("region", { name: "Why" }); }
  get slider() { return this.tab.getByRole("slider", { name: "Timeline" }); }
  get tree() { return this.tab.getByRole("tree", { name: "Objects" }); }

  // The simulator answers.
  async ready() {
    await this.until("Step can be pressed", () => this.button("Step").isEnabled(), 60_000);
  }

  // Waits for something to become true; the last value is in the message.
  async until(what, check, timeout = 20_000) {
    const end = Date.now() + timeout;
    for (;;) {
      const got = await check();
      if (got) return got;
      if (Date.now() > end) assert.fail(`${what}: not after ${timeout} ms; verdict: ${await this.text(this.verdict)}; steps: ${(await this.text(this.steps)).slice(-300)}`);
      await this.tab.waitForTimeout(25);
    }
  }

  async text(locator) { return ((await locator.innerText()) || "").replace(/\s+/g, " ").trim(); }

  async at() { return Number(await this.slider.inputValue()); }
  async last() { return Number(await this.slider.getAttribute("max")); }

  // What was done is drawn: on a slow machine the page draws a part at once, the rest after what the browser has to do.
  async drawn() {
    await this.tab.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => setTimeout(() => setTimeout(done, 0), 0));
      // What is out of sight has no pictures.
      setTimeout(done, 1000);
    }));
  }

  // Presses a time control and waits until the page shows another moment and rests.
  async press(name, patience) {
    const before = await this.tab.locator(".clock").textContent();
    await this.button(name).click();
    await this.until(`${name} moves`, async () => (await this.tab.locator(".clock").textContent()) !== before);
    await this.rest(patience);
  }

  // The same by a key.
  async pressKey(key) {
    const before = await this.tab.locator(".clock").textContent();
    await this.tab.keyboard.press(key);
    await this.until(`${key} moves`, async () => (await this.tab.locator(".clock").textContent()) !== before);
    await this.rest();
  }

  // Where the focus is: inside of what matches.
  async focusIn(selector) {
    await this.until(`the focus is in ${selector}`, () => this.tab.evaluate((s) => document.activeElement.closest(s) !== null, selector));
  }

  // Nothing runs any more.
  async rest(patience = 60_000) {
    await this.drawn();
    await this.until("the run ends", async () => (await this.button("Play").getAttribute("aria-pressed")) === "false", patience);
  }

  // Steps until a sentence matches; returns it.
  async stepUntil(pattern, most = 60) {
    for (let i = 0; i < most; i++) {
      await this.press("Step");
      const last = await this.sentence();
      if (pattern.test(last)) return last;
    }
    assert.fail(`no step said ${pattern}: ${await this.text(this.steps)}`);
  }

  async sentence() { return this.text(this.steps.locator("p").last()); }

  async apply() {
    await this.button("Apply").click();
    await this.applied();
    return this.text(this.output);
  }

  // What was applied, with the button or a key, is answered.
  async applied() {
    await this.drawn();
    await this.until("Apply answers", async () => /exit \d/.test(await this.text(this.output)) && (await this.button("Apply").getAttribute("aria-busy")) === "false");
  }

  // The text of the editor's file.
  async file() {
    await this.tab.locator(".cm-content").waitFor();
    return (await this.tab.locator(".cm-line").allTextContents()).join("\n");
  }

  // Into the editor, once it has taken the plain field's place: there a long text is one change, not one for each line.
  async write(text) {
    await this.tab.locator(".cm-content").waitFor();
    await this.manifest.fill(text);
  }

  async kubectl(line) {
    const field = this.tab.getByRole("textbox", { name: "kubectl", exact: true });
    const before = await this.terminal.locator("pre").count();
    await field.fill(line);
    await field.press("Enter");
    await this.until(`an answer to ${line}`, async () => (await this.terminal.locator("pre").count()) > before);
    const answer = this.terminal.locator("pre").last();
    return (await answer.textContent()) || "";
  }

  async choose(item) {
    await this.tab.getByRole("menuitem", { name: item }).click();
  }

  // The hash of the shown world, from the Share panel.
  async hash() {
    await this.button("Share").click();
    const panel = this.tab.getByRole("dialog", { name: "Share this moment" });
    const hash = await panel.locator("code").textContent();
    await this.tab.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    return hash;
  }
}
