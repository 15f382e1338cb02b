// What other origins say is not heard, by the figure and by the page around it.
import assert from "node:assert/strict";
import test from "node:test";
import { SITE, heard, host, read } from "./host.mjs";

test("messages from another origin change nothing and get no answer", async () => {
  await read("hostile.html", async (tab) => {
    await heard(tab, "ready");
    const before = await tab.evaluate(() => window.figure.getState());
    const count = await tab.evaluate(() => window.heard.length);
    const plain = tab.frames().find((f) => f.url().startsWith(SITE) && f.parentFrame() === tab.mainFrame() && f.url().includes("host="));
    await plain.getByRole("button", { name: "Step", exact: true }).waitFor();
    const clock = () => tab.frameLocator("#plain").locator(".clock").textContent();
    const shown = await clock();
    const ad = tab.frames().find((f) => f.url().endsWith("attacker.html"));
    await ad.waitForFunction(() => window.attack);
    assert.equal(await ad.evaluate(() => window.attack()), 2, "the page and the figure are addressed");
    await tab.waitForTimeout(400);
    const after = await tab.evaluate(() => window.figure.getState());
    assert.deepEqual([after.step, after.last, after.kubectl?.line, after.files], [before.step, before.last, before.kubectl?.line, before.files]);
    assert.equal(await tab.evaluate(() => window.heard.length), count, "the page heard nothing");
    assert.deepEqual(await ad.evaluate(() => window.answers), []);
    assert.equal(await clock(), shown, "the figure that could be reached did nothing");
    // The page itself is still heard.
    assert.equal((await tab.evaluate(() => window.figure.back())).step, before.step - 1);
  });
});

test("a page that is not the one in the address is not heard", async () => {
  await read("api.html", async (tab) => {
    await tab.waitForFunction(() => window.loaded);
    const answers = await tab.evaluate(async (site) => {
      const frame = document.createElement("iframe");
      frame.src = `${site}?embed&host=${encodeURIComponent("https://docs.example.com")}#scenario=P05`;
      document.body.append(frame);
      const heard = [];
      addEventListener("message", (e) => heard.push(e.data));
      await new Promise((done) => { frame.onload = done; });
      for (let i = 0; i < 20; i++) {
        frame.contentWindow.postMessage({ kubestep: 1, type: "call", id: i, method: "getState", args: [] }, "*");
        await new Promise((done) => setTimeout(done, 100));
      }
      return heard;
    }, SITE);
    assert.deepEqual(answers, []);
    assert.notEqual(new URL(host()).origin, new URL(SITE).origin);
  });
});

test("messages that are no messages, and methods that are none, do no harm", async () => {
  await read("api.html", async (tab) => {
    await tab.waitForFunction(() => window.loaded);
    await tab.evaluate(() => void window.make({ scenario: "P05" }));
    const [before] = await heard(tab, "ready");
    const answers = await tab.evaluate(async (site) => {
      const target = window.figure.element.shadowRoot.querySelector("iframe").contentWindow;
      const heard = [];
      addEventListener("message", (e) => e.data?.type === "result" && heard.push(e.data));
      const odd = [null, 1, "x", [], {}, { kubestep: 2, type: "call", id: 900, method: "step" }, { kubestep: 1, type: "call", id: "x", method: "step" },
        { kubestep: 1, type: "call", id: 901, method: "__proto__" }, { kubestep: 1, type: "call", id: 902, method: "constructor", args: 7 },
        { kubestep: 1, type: "call", id: 903, method: "seek", args: [{}] }, { kubestep: 1, type: "call", id: 904, method: "kubectl", args: ["x".repeat(2 << 20)] },
        { kubestep: 1, type: "call", id: 905, method: "apply", args: [{ toString: 1 }] }];
      for (const message of odd) target.postMessage(message, new URL(site).origin);
      await new Promise((done) => setTimeout(done, 600));
      return heard.map((a) => [a.id, a.ok]);
    }, SITE);
    assert.deepEqual(answers.sort((a, b) => a[0] - b[0]), [[901, false], [902, false], [903, false], [904, false], [905, false]]);
    assert.equal((await tab.evaluate(() => window.figure.getState())).step, before.step);
  });
});
