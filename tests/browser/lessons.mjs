// Lessons by role and name: text, predictions, goals, hints, the shown way, the end, the map.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const pane = (page) => page.tab.getByRole("region", { name: "Lesson", exact: true });
const goals = (page) => page.tab.getByRole("list", { name: "Goals" }).getByRole("listitem");
const tab = (page, name) => page.tab.getByRole("tab", { name, exact: true });

async function predict(page, choice) {
  const form = page.tab.getByRole("form", { name: "Prediction" });
  await form.waitFor();
  const question = await page.text(form.getByRole("heading"));
  await form.getByRole("radio", { name: choice }).check();
  await form.getByRole("button", { name: "Predict", exact: true }).click();
  await page.until("the answer is there", async () => (await page.tab.locator(".answered").count()) > 0 && !(await page.text(pane(page))).includes(question));
}

// Skips what is asked, if anything is; an answer takes a question away, and another may come.
async function skip(page) {
  const form = page.tab.getByRole("form", { name: "Prediction" });
  await page.until("nothing is asked", async () => {
    if (!(await form.count())) return true;
    await page.button("Skip").click({ timeout: 1000 }).catch(() => {});
    return false;
  });
}

async function solved(page, press, most = 30) {
  const end = page.tab.getByRole("region", { name: "Debrief" });
  for (let i = 0; i < most && !(await end.count()); i++) {
    await skip(page);
    await page.press(press);
  }
  await end.waitFor();
  assert.deepEqual(await goals(page).evaluateAll((list) => list.filter((e) => !/, done/.test(e.textContent)).map((e) => e.textContent)), []);
  return page.text(end);
}

const open = (page, title) => page.until(`${title} is open`, async () => (await page.text(pane(page).getByRole("heading", { level: 1 }).first())) === title);

test("read a green exit code: predicted, applied, mended in the file, solved", async () => {
  await visit(async (page) => {
    await page.button("Lessons").click();
    await page.button("Start").click();
    await open(page, "Read a green exit code");
    await predict(page, "0");
    await page.tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    await predict(page, "0");
    await tab(page, "checkout.yaml").click();
    await page.write((await page.file()).replace("1.9.2", "1.9.1"));
    await page.apply();
    await tab(page, "Lesson").click();
    const said = await solved(page, "+10 s");
    assert.match(said, /Solved/);
    assert.match(said, /Predictions 2 of 2 right/);
    // It is remembered, and the map goes on from there.
    await page.button("Lessons").click();
    const map = page.tab.getByRole("dialog", { name: "Lessons" });
    await map.waitFor();
    assert.match(await page.text(map), /1 of \d+ solved/);
    await map.getByRole("button", { name: "Continue where I left" }).click();
    await page.until("another is open", async () => !/Read a green exit code/.test(await page.text(pane(page).getByRole("heading", { level: 1 }).first())));
  });
});

test("measure a gap and its age: the tag is pushed", async () => {
  await visit(async (page) => {
    await open(page, "Measure a gap and its age");
    await predict(page, "an hour and a half");
    await page.tab.getByRole("button", { name: /^Push it/ }).first().click();
    await solved(page, "+1 min");
  }, { fragment: "?lesson=measure-a-gap-and-its-age", ready: false });
});

test("follow one edit through the loops: three questions, one apply", async () => {
  await visit(async (page) => {
    await open(page, "Follow one edit through the loops");
    await predict(page, "deployment-controller");
    await page.tab.keyboard.press("Control+Enter");
    await page.press("Run until calm");
    await predict(page, "replicaset-controller");
    await page.press("Run until calm");
    await solved(page, "+10 s");
    await page.button("Reset").click();
    await page.until("it begins anew", async () => (await page.tab.getByRole("form", { name: "Prediction" }).count()) === 1 && (await page.tab.getByRole("region", { name: "Debrief" }).count()) === 0);
    // The shown way, step by step.
    for (let i = 0; i < 2; i++) {
      await page.button("Show me").click();
      await page.until("it is shown", async () => (await page.button("Show me").isEnabled()) || i === 1);
    }
    await page.until("the shown way ends", () => page.button("Show me").isDisabled());
    // A reload comes back to the lesson.
    await page.tab.reload();
    await open(page, "Follow one edit through the loops");
  }, { fragment: "?lesson=follow-one-edit-through-the-loops", ready: false });
});

test("send it twice: kubectl in the terminal", async () => {
  await visit(async (page) => {
    await open(page, "Send it twice");
    for (const line of ["kubectl create -f one-more.yaml", "kubectl create -f one-more.yaml", "kubectl apply -f three.yaml", "kubectl apply -f three.yaml"]) {
      await skip(page);
      await page.kubectl(line);
    }
    await page.press("Run until calm");
    const one = (await page.kubectl("kubectl get pods -l app=asked -o name")).match(/pod\/\S+/)[0];
    await page.kubectl(`kubectl delete ${one} --wait=false`);
    await solved(page, "+10 s");
  }, { fragment: "?lesson=send-it-twice", ready: false });
});

test("a lesson can be read and stepped at 360 px", async () => {
  await visit(async (page) => {
    await open(page, "Read a green exit code");
    await predict(page, "0");
    await page.tab.keyboard.press("Control+Enter");
    await page.press("Step");
    const sideways = await page.tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(sideways <= 0, `${sideways} px too wide`);
  }, { fragment: "?lesson=read-a-green-exit-code", ready: false, width: 360, height: 740 });
});

test("a lesson that is not there is said, and the page goes on", async () => {
  await visit(async (page) => {
    await page.until("it is said", async () => /a lesson that is not here. no-such/.test(await page.text(page.tab.locator(".banner"))));
    assert.match(await page.text(page.verdict), /^Converged/);
  }, { fragment: "?lesson=no-such" });
});
