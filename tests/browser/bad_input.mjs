// Whatever is put in: a clear message, nothing lost, nothing frozen.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";
const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"].concat("bcdefghi".split("").map((c, i) => `${c}: &${c} [${Array(9).fill("*" + "abcdefgh"[i]).join(",")}]`)).join("\n");
const kinds = [
  ["a tab as indent", "apiVersion: v1\nkind:\n\tConfigMap\n", /tab|indent|found character|cannot start/i],
  ["an open quote", 'apiVersion: v1\nkind: "ConfigMap\n', /error/i],
  ["an open bracket", "apiVersion: v1\nkind: [ConfigMap\n", /error/i],
  ["no kind", "apiVersion: v1\nmetadata:\n  name: x\n", /kind/i],
  ["a list at the top", "- a\n- b\n", /error/i],
  ["an unknown field", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  replica: 3\n  selector:\n    matchLabels: {a: b}\n  template:\n    metadata:\n      labels: {a: b}\n    spec:\n      containers:\n      - name: c\n        image: i\n", /unknown field "spec\.replica"/],
  ["a word for a number", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  replicas: many\n  selector:\n    matchLabels: {a: b}\n  template:\n    metadata:\n      labels: {a: b}\n    spec:\n      containers:\n      - name: c\n        image: i\n", /replicas|int32|many/i],
  ["an unknown kind", "apiVersion: v1\nkind: Teapot\nmetadata:\n  name: x\n", /no matches for kind "Teapot"/],
  ["an alias bomb", bomb, /alias|excessive|kind|document/i],
  ["3,000 levels", head + "data: " + "{a: ".repeat(3000) + "1" + "}".repeat(3000) + "\n", /error/i],
  ["binary junk", Array.from({ length: 4000 }, (_, i) => String.fromCharCode(1 + ((i * 7919) % 255))).join(""), /error/i],
];

// The page answers within a moment: a key press in the terminal's field shows.
async function alive(page) {
  const started = Date.now();
  const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
  await field.fill("get pods");
  assert.equal(await field.inputValue(), "get pods");
  assert.ok(Date.now() - started < 15_000, `the page took ${Date.now() - started} ms`);
  await field.fill("");
}

for (const [name, text, message] of kinds) {
  test(`a manifest with ${name} is refused in words, and the file stays`, async () => {
    await visit(async (page) => {
      const pods = await page.kubectl("kubectl get pods --no-headers");
      await page.write(text);
      const answer = await page.apply();
      assert.match(answer, /exit 1/);
      assert.match(answer, message);
      await alive(page);
      assert.match(await page.kubectl("kubectl get pods --no-headers"), new RegExp(pods.match(/checkout-\S+/)[0]), "the cluster is as it was");
    });
  });
}

test("a manifest of 2 MB is read without a freeze", async () => {
  await visit(async (page) => {
    await page.write(head + "data:\n" + Array.from({ length: 40_000 }, (_, i) => `  key-${i}: "${"v".repeat(36)}"`).join("\n") + "\n");
    const answer = await page.apply();
    assert.match(answer, /configmap\/x created|exit 1/);
    assert.match(answer, /created|too l(ong|arge)|limit/i);
    await alive(page);
  });
});

test("a problem names its line, and the teacher's remedy mends it", async () => {
  await visit(async (page) => {
    await page.write(kinds.find(([n]) => n === "an unknown field")[1]);
    const problems = page.tab.getByRole("group", { name: "Problems" });
    await page.until("the problem is shown", async () => /6:3.*unknown field "spec\.replica"/.test(await page.text(problems)));
    await page.button("Change it").click();
    await page.until("it is mended", async () => /No problems/.test(await page.text(problems)));
    assert.match(await page.file(), /replicas: 3/);
  });
});

test("Apply pressed 50 times fast answers every time and changes nothing more", async () => {
  await visit(async (page) => {
    await page.apply();
    for (let i = 0; i < 50; i++) await page.button("Apply").click({ noWaitAfter: true });
    await page.drawn();
    await page.until("the last answer", async () => (await page.button("Apply").getAttribute("aria-busy")) === "false", 60_000);
    assert.match(await page.text(page.output), /deployment\.apps\/checkout unchanged.*exit 0/);
    await alive(page);
  });
});

for (const [name, fragment, words] of [
  ["damaged", "#1eJyNkk1v2zAMhv8K", /This link is not whole/],
  ["of another sort", "#hello", /This link is not whole/],
  ["from a newer version", "#9AAAA", /newer Kubestep|not whole/],
]) {
  test(`a link that is ${name} says so and leaves something to work with`, async () => {
    await visit(async (page) => {
      await page.until("the row says it", async () => words.test(await page.text(page.tab.locator(".banner"))));
      assert.match(await page.text(page.verdict), /^Converged/);
      await page.apply();
    }, { fragment });
  });
}

test("a browser that refuses storage is told so once, and everything works", async () => {
  await visit(async (page) => {
    await page.until("the row says it", async () => /Drafts will not survive a reload/.test(await page.text(page.tab.locator(".banner"))));
    await page.button("All right").click();
    await page.write(head);
    assert.match(await page.apply(), /configmap\/x created/);
    assert.equal(await page.tab.locator(".banner").count(), 0);
  }, { init: () => Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } }) });
});

test("if the simulator's worker dies the page brings back the moment before and says so", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    const before = { step: await page.at(), hash: await page.hash() };
    await page.tab.evaluate(() => window.workers.at(-1).dispatchEvent(new ErrorEvent("error", { message: "out of memory" })));
    await page.until("the row says it", async () => /started again/.test(await page.text(page.tab.locator(".banner"))));
    await page.until("the step is back", async () => (await page.at().catch(() => -1)) === before.step);
    assert.equal(await page.hash(), before.hash);
    assert.match(await page.file(), /1\.9\.2/);
    await page.press("Step");
  }, {
    init: () => {
      const Real = window.Worker;
      window.workers = [];
      window.Worker = class extends Real { constructor(...a) { super(...a); window.workers.push(this); } };
    },
  });
});
