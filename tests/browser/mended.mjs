// Faults that were found by people who used the page, each with what they did.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("at 1024 px everything of the wide page can be reached, and at 360 px from the dots", async () => {
  for (const [width, height] of [[1024, 768], [720, 900]]) {
    await visit(async (page) => {
      for (const [button, role, name] of [["Until…", "menu", "Run until"], ["Who…", "menu", "Who moves next"], ["Keyboard", "dialog", "Keyboard"]]) {
        await page.button(button).click();
        const open = page.tab.getByRole(role, { name });
        await open.waitFor();
        const box = await open.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= width && box.y >= 0, `${name} at ${width} px: ${JSON.stringify(box)}`);
        await page.tab.keyboard.press("Escape");
        await open.waitFor({ state: "detached" });
      }
    }, { width, height });
  }
  await visit(async (page) => {
    await page.tab.locator("#open-more").click();
    await page.choose(/^Run until/);
    await page.tab.getByRole("menu", { name: "Run until" }).waitFor();
    await page.choose(/gap is older than my limit/);
    await page.rest();
  }, { width: 360, height: 740 });
});

test("Enter in the search of the faults takes the only one that is left", async () => {
  await visit(async (page) => {
    await page.button("Faults").click();
    const menu = page.tab.getByRole("menu", { name: "Faults" });
    await page.tab.getByRole("searchbox", { name: "Search" }).fill("registry throttle");
    await page.until("one is left", async () => (await menu.getByRole("menuitemcheckbox").count()) === 1);
    await page.tab.keyboard.press("Enter");
    await page.until("it is on", async () => (await page.button("Faults ✦").count()) === 1);
  });
});

test("a file is named for kubectl, closed, opened again, and a reload knows it", async () => {
  await visit(async (page) => {
    const tabs = () => page.tab.getByRole("tablist", { name: "Files" }).getByRole("tab").allTextContents();
    const named = async (name) => {
      await page.button("File: name, close").click();
      const field = page.tab.getByRole("textbox", { name: "Name of this file" });
      await page.until("the field has the focus", () => field.evaluate((e) => e === document.activeElement));
      await field.fill(name);
      await field.press("Enter");
      await page.until(`it is called ${name}`, async () => (await tabs()).some((t) => t.startsWith(name)));
    };
    await page.button("New file").click();
    await page.write("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: greeting\ndata:\n  word: hello\n");
    await named("greeting.yaml");
    await page.button("New file").click();
    await page.write("resources:\n- greeting.yaml\nnamePrefix: my-\n");
    await named("kustomization.yaml");
    assert.match(await page.kubectl("kubectl kustomize ."), /name: my-greeting/);
    const before = await tabs();
    await page.tab.getByRole("tab", { name: before[0] }).click();
    await page.button("File: name, close").click();
    await page.button("Close file").click();
    await page.until("it is closed", async () => (await tabs()).length === before.length - 1);
    await page.tab.reload();
    await page.ready();
    await page.until("the files are back", async () => (await tabs()).join() === before.slice(1).join());
    await page.tab.getByRole("tab", { name: "greeting.yaml" }).click();
    await page.until("its text is back", async () => /word: hello/.test(await page.file()));
    await page.button("File: name, close").click();
    await page.button(`Open ${before[0]} again`).click();
    await page.until("it is open", async () => (await tabs()).length === before.length);
  });
});

test("a long problem is shown whole, at its own line", async () => {
  await visit(async (page) => {
    await page.write("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels:\n    a: b\n    app: not a label\n");
    const problems = page.tab.getByRole("group", { name: "Problems" });
    await page.until("it is found", async () => /7:10/.test(await page.text(problems)));
    const cut = await problems.locator(".whole").evaluate((e) => e.scrollWidth > e.clientWidth || getComputedStyle(e).whiteSpace === "nowrap");
    assert.equal(cut, false);
    assert.match(await page.text(problems), /a valid label must be .*regex/);
  });
});

test("the verdict is not cut at 1440 px", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    const cut = await page.tab.locator(".v-because").evaluate((e) => e.scrollHeight > e.clientHeight + 1);
    assert.equal(cut, false, await page.text(page.verdict));
  });
});

test("what a step says of the time since grows with the time", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    for (let i = 0; i < 14; i++) {
      await page.press("+10 s");
      const [said] = (await page.sentence()).match(/(\d+s|\d+m( \d\ds)?) passed/) ?? [""];
      const again = await page.tab.locator("[role=log][aria-label=Steps] p").evaluateAll((list) => list.filter((p) => /Then .* passed/.test(p.textContent)).length);
      assert.ok(again <= 1, `${again} lines tell of passed time; ${said}`);
    }
  });
});

test("the first lesson is solved by pushing the tag as well", async () => {
  await visit(async (page) => {
    const skip = page.button("Skip");
    await page.until("it is open", async () => (await skip.count()) > 0 || (await page.tab.getByRole("form", { name: "Prediction" }).count()) > 0);
    await skip.click();
    await page.tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    if (await skip.count()) await skip.click();
    await page.press("Run until calm");
    await page.tab.getByRole("button", { name: /^Push it/ }).first().click();
    const end = page.tab.getByRole("region", { name: "Debrief" });
    for (let i = 0; i < 12 && !(await end.count()); i++) await page.press("+1 min");
    assert.match(await page.text(end), /Solved/);
    assert.match(await page.text(end), /Predictions none answered/);
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false });
});

test("the words of limit and deadline lie beside each other at every limit", async () => {
  await visit(async (page) => {
    const choose = page.tab.getByRole("combobox", { name: "Tell me when a gap is older than" });
    const count = await choose.locator("option").count();
    assert.ok(count > 4);
    for (let i = 0; i < count; i++) {
      await choose.selectOption({ index: i });
      await page.drawn();
      const boxes = await page.tab.locator(".ruler > text:not(.mute):not(.over)").evaluateAll((list) => list.map((e) => e.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })));
      assert.equal(boxes.length, 2);
      const [a, b] = boxes;
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
      assert.ok(apart, `limit ${i}: ${JSON.stringify(boxes)}`);
    }
  });
});

test("a new file's tab is in sight, and the answer to another file is not under it", async () => {
  await visit(async (page) => {
    assert.match(await page.apply(), /configured/);
    for (let i = 0; i < 7; i++) await page.button("New file").click();
    const tab = page.tab.getByRole("tab", { name: /^new-7\.yaml/ });
    await page.until("it is in front", async () => (await tab.getAttribute("aria-selected")) === "true");
    await page.until("it is in sight", () => tab.evaluate((e) => {
      const [mine, list] = [e, e.parentElement].map((x) => x.getBoundingClientRect());
      return mine.left >= list.left - 1 && mine.right <= list.right + 1;
    }));
    assert.doesNotMatch(await page.text(page.output), /configured/);
    await page.tab.getByRole("tab", { name: /^checkout\.yaml/ }).click();
    await page.until("the answer is with its file", async () => /configured/.test(await page.text(page.output)));
  });
});

test("at 360 px the time controls stand in one order in every language", async () => {
  const orders = [];
  for (const lang of ["en", "de"]) {
    await visit(async (page) => {
      await page.until("they are there", async () => (await page.tab.locator(".controls [aria-keyshortcuts]").count()) >= 8);
      await page.until("in this language", () => page.tab.evaluate((l) => document.documentElement.lang === l, lang));
      orders.push(await page.tab.locator(".controls [aria-keyshortcuts]").evaluateAll((list) => list.map((e) => [e.getAttribute("aria-keyshortcuts"), e.getBoundingClientRect()]).sort(([, a], [, b]) => a.top - b.top || a.left - b.left).map(([key]) => key).join("")));
    }, { fragment: `?lang=${lang}`, ready: false, width: 360, height: 740 });
  }
  assert.deepEqual(orders, ["bfsprc12", "bfsprc12"]);
});

test("a Service whose selector is misspelt is told what was meant, and one press writes it", async () => {
  await visit(async (page) => {
    const text = await page.file();
    await page.write(text.replace(/(kind: Service[^]*?selector:\s+app: )checkout/, "$1chekout"));
    const note = page.tab.locator(".strip-note", { hasText: "Did you mean" });
    await note.waitFor();
    await note.getByRole("button", { name: "Change it" }).click();
    await page.until("it is written", async () => (await page.file()) === text);
    await note.waitFor({ state: "detached" });
  });
});
