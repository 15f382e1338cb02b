// The page in German: asked for by the address or the switch, kept, complete, and what is Kubernetes' stays so.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const words = (page, selector) => page.tab.locator(selector).innerText().then((t) => t.replace(/\s+/g, " ").trim());

test("?lang=de speaks German, and Kubernetes keeps its words", async () => {
  await visit(async (page) => {
    const { tab } = page;
    await tab.getByRole("button", { name: "Schritt", exact: true }).waitFor({ timeout: 60_000 });
    assert.equal(await tab.evaluate(() => document.documentElement.lang), "de");
    await page.until("it is calm", async () => /^Angekommen/.test(await words(page, ".verdict")));
    await tab.keyboard.press("Control+Enter");
    await page.until("Apply answers", async () => /configured/.test(await tab.getByRole("region", { name: "Ausgabe von Apply" }).innerText()));
    await tab.keyboard.press("c");
    await page.until("it is stuck", async () => /^Steckt fest .*weil die Registry kein checkout:1\.9\.2 hat/.test(await words(page, ".verdict")));
    await page.until("Why is German", async () => /Blockiert von der Registry: Sie hat kein checkout:1\.9\.2/.test(await tab.getByRole("region", { name: "Warum" }).innerText()));
    assert.match(await words(page, ".board"), /ErrImagePull|ImagePullBackOff/);
    assert.match(await tab.getByRole("log", { name: "Schritte" }).innerText(), /Ruhe: Übrig ist nur noch Warten/);
  }, { fragment: "?lang=de", ready: false });
});

test("the switch in the header speaks the other language at once, in a lesson too, and a reload keeps it", async () => {
  await visit(async (page) => {
    const { tab } = page;
    const title = () => tab.locator(".lesson h1").innerText();
    await page.until("the lesson is open", async () => (await tab.locator(".lesson h1").count()) === 1 && (await title()) === "Read a green exit code");
    await page.button("Skip").click();
    await tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    const step = await page.at();
    await page.button("DE").click();
    await page.until("the lesson is German", async () => (await tab.locator(".lesson h1").count()) === 1 && (await title()) === "Lies einen grünen Exit-Code");
    await tab.getByRole("button", { name: "Zeig es mir" }).waitFor();
    const slider = tab.getByRole("slider", { name: "Zeitlinie" });
    await page.until("the run is where it was", async () => Number(await slider.inputValue()) === step);
    await tab.reload();
    await page.until("German is kept", async () => (await tab.locator(".lesson h1").count()) === 1 && (await title()) === "Lies einen grünen Exit-Code");
    await tab.getByRole("button", { name: "EN", exact: true }).click();
    await page.until("and back", async () => (await tab.locator(".lesson h1").count()) === 1 && (await title()) === "Read a green exit code");
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false });
});

test("where the German words cannot be fetched the page is English", async () => {
  await visit(async (page) => {
    assert.equal(await page.tab.evaluate(() => document.documentElement.lang), "en");
  }, { fragment: "?lang=de", routes: [["**/de.txt", (route) => route.abort()]], allow: /Failed to load resource|ERR_FAILED/ });
});
