// Other people's pages: small static pages, served under another name than the site, so that origins differ.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import assert from "node:assert/strict";
import { browser, Page } from "../page.mjs";

export const SITE = process.env.KUBESTEP_URL;
const FOLDER = new URL("./", import.meta.url);
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", md: "text/markdown; charset=utf-8" };

const given = new Map();

/** Puts a page beside the others: one that the site has made. */
export const put = (name, text) => given.set(name, text);

let server;
let port;

/** The site is at 127.0.0.1; `localhost` is another site, `127.0.0.1` with this port another origin of the same site. */
export const host = (name = "localhost") => `http://${name}:${port}/`;

export async function serve() {
  server = createServer(async (request, response) => {
    const name = new URL(request.url, "http://x").pathname.slice(1);
    // Browsers ask for an icon that no page names.
    if (name === "favicon.ico") return void response.writeHead(204).end();
    try {
      if (!/^[a-z-]+(\.de)?\.(html|js|md)$/.test(name)) throw new Error("no such page");
      const text = given.get(name) ?? await readFile(new URL(name, FOLDER), "utf8");
      response.writeHead(200, { "Content-Type": TYPES[name.split(".").at(-1)], "Cache-Control": "no-store" });
      response.end(text.replaceAll("{{SITE}}", SITE).replaceAll("{{OTHER}}", host("127.0.0.1")));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, done));
  ({ port } = server.address());
}

export const close = () => new Promise((done) => server.close(done));

/** Opens somebody's page, and fails if that page, or a figure in it, logged an error. */
export async function read(name, work, { width = 1000, height = 900, dark = false, init, allow } = {}) {
  const context = await browser().newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const errors = [];
  try {
    if (init) await context.addInitScript(init);
    const tab = await context.newPage();
    tab.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    tab.on("pageerror", (e) => errors.push(String(e)));
    await tab.goto(host() + name);
    await work(tab);
    assert.deepEqual(errors.filter((e) => !allow?.test(e)), [], "the page logged errors");
  } finally {
    await context.close();
  }
}

/** The figure with this title, with the page's parts by role and name. */
export function figure(tab, title) {
  const inside = tab.frameLocator(title ? `iframe[title$=": ${title}"]` : 'iframe[title="Kubestep figure"]');
  return new Figure(tab, inside);
}

class Figure extends Page {
  constructor(tab, inside) {
    super(inside);
    this.host = tab;
    // Only what `Page` asks of a tab beside its parts.
    inside.waitForTimeout = (millis) => tab.waitForTimeout(millis);
    inside.evaluate = (work) => inside.locator("body").evaluate(work);
  }

  async verdictSays(pattern) {
    await this.until(`the verdict says ${pattern}`, async () => pattern.test(await this.text(this.verdict)), 60_000);
  }
}

/** Waits until the page has heard an event. */
export async function heard(tab, name, timeout = 60_000) {
  await tab.waitForFunction((n) => window.heard?.some((e) => e.name === n), name, { timeout });
  return tab.evaluate((n) => window.heard.filter((e) => e.name === n).map((e) => e.detail), name);
}
