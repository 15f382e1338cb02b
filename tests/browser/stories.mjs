// What else the page must be able to show.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

const count = (text, pattern) => (text.match(pattern) || []).length;

async function healthyPod(page) {
  const list = await page.kubectl("kubectl get pods --no-headers");
  return list.split("\n").find((l) => l.startsWith("checkout-")).split(" ")[0];
}

test("a label moved off a pod orphans it, and a replacement appears", async () => {
  await visit(async (page) => {
    const pod = await healthyPod(page);
    assert.match(await page.kubectl(`kubectl label pod ${pod} app=debug --overwrite`), new RegExp(`pod/${pod} labeled`));
    await page.press("Run until calm");
    const pods = await page.kubectl("kubectl get pods --show-labels");
    assert.equal(count(pods, /app=checkout/g), 3, pods);
    assert.equal(count(pods, /app=debug/g), 1, pods);
    assert.match(await page.text(page.tree), /nobody owns/);
  });
});

test("a typo in the Service's selector gives silence", async () => {
  await visit(async (page) => {
    await page.write((await page.file()).replace("1.9.2", "1.9.1"));
    await page.button("Break it").click();
    await page.choose(/Service.s selector/);
    assert.match(await page.apply(), /service\/checkout configured/);
    await page.press("Run until calm");
    assert.match(await page.text(page.verdict), /^Converged.*selects/, "no gap, and the teacher says what Kubernetes does not");
    assert.match(await page.kubectl("kubectl get endpointslices -l kubernetes.io/service-name=checkout"), /<unset>/);
    assert.doesNotMatch(await page.kubectl("kubectl get events --field-selector involvedObject.kind=Service"), /Warning/);
  });
});

test("a quota that is too small stops pods, and only the ReplicaSet says so", async () => {
  await visit(async (page) => {
    await page.button("Break it").click();
    await page.choose(/Quota too small/);
    assert.match(await page.apply(), /resourcequota\/\S+ created/);
    await page.press("Run until calm");
    await page.kubectl("kubectl scale deployment/checkout --replicas=5");
    await page.press("Run until calm");
    await page.press("+1 min");
    assert.match(await page.text(page.verdict), /^Stalled.*quota/i);
    assert.match(await page.kubectl("kubectl get events"), /FailedCreate.*exceeded quota/);
  });
});

test("a stopped node is noticed late, and its pods are replaced elsewhere", async () => {
  await visit(async (page) => {
    await page.tab.getByRole("button", { name: /^node-2: / }).click();
    await page.choose(/^Stop/);
    await page.press("+10 s");
    assert.match(await page.kubectl("kubectl get node node-2"), / Ready /, "nobody has noticed yet");
    for (let i = 0; i < 8; i++) await page.press("+1 min");
    assert.match(await page.kubectl("kubectl get node node-2"), / NotReady /);
    const pods = await page.kubectl("kubectl get pods -o wide");
    assert.equal(count(pods, /1\/1 +Running .*node-[13]/g), 3, pods);
  });
});

test("scaling the ReplicaSet by hand is reverted", async () => {
  await visit(async (page) => {
    const set = (await page.kubectl("kubectl get rs --no-headers")).match(/checkout-\S+/)[0];
    await page.kubectl(`kubectl scale rs/${set} --replicas=5`);
    await page.press("Run until calm");
    assert.match(await page.kubectl("kubectl get rs"), new RegExp(`${set} +3 +3 +3`));
    assert.match(await page.text(page.verdict), /^Converged/);
  });
});

test("every scenario starts in one click", async () => {
  await visit(async (page) => {
    const box = page.tab.getByRole("combobox", { name: "Scenario" });
    const titles = await box.locator("option").allTextContents();
    assert.ok(titles.length >= 13, titles.join("; "));
    for (const title of titles) {
      await box.selectOption({ label: title });
      await page.until(`${title} is open`, async () => (await page.text(page.tab.locator("h1"))) === `Kubestep: ${title}`);
      await page.until(`${title} can be applied`, () => page.button("Apply").isEnabled());
      assert.ok((await page.text(page.tree)).length > 0, title);
    }
  });
});

test("drafts survive a reload, and Reset brings the file back", async () => {
  await visit(async (page) => {
    await page.write("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n");
    await page.until("it is kept", () => page.tab.evaluate(() => (localStorage.getItem("kubestep.drafts") ?? "").includes("name: mine")));
    await page.tab.reload();
    await page.ready();
    await page.until("the draft is back", async () => /name: mine/.test(await page.file()));
    await page.button("Reset file").click();
    await page.until("the file is back", async () => /kind: Deployment/.test(await page.file()));
  });
});

test("playing moves the clock by itself and stops when asked", async () => {
  await visit(async (page) => {
    await page.apply();
    const before = await page.at();
    await page.button("Play").click();
    await page.until("it plays", async () => (await page.at()) > before + 5);
    await page.button("Play").click();
    await page.rest();
    const at = await page.at();
    await page.tab.waitForTimeout(300);
    assert.equal(await page.at(), at);
  });
});

test("the what-if is a switch among the faults, is marked on every panel, and travels in the link", async () => {
  let link;
  const marked = (page) => page.tab.evaluate(() => [".desired", ".cluster", ".inspect", ".time", ".dock"].map((s) => getComputedStyle(document.querySelector(s)).borderTopStyle));
  await visit(async (page) => {
    assert.ok(!(await marked(page)).includes("dashed"));
    await page.button("Faults").click();
    await page.tab.getByRole("menuitemcheckbox", { name: /^What if: no selector check/ }).click();
    await page.until("the verdict says so", async () => /what if/.test(await page.text(page.verdict)));
    assert.deepEqual(await marked(page), Array(5).fill("dashed"));
    assert.match(await page.text(page.tab.locator(".stage-head")), /what if: no selector check/);
    await page.button("Share").click();
    link = await page.until("a link", () => page.tab.getByRole("textbox", { name: "Link" }).inputValue());
    await page.tab.keyboard.press("Escape");
  });
  await visit(async (page) => {
    await page.until("the mark is there again", async () => /what if/.test(await page.text(page.verdict)));
    assert.deepEqual(await marked(page), Array(5).fill("dashed"));
    await page.button("Faults ✦").click();
    await page.tab.getByRole("menuitemcheckbox", { name: /^What if: no selector check/ }).click();
    await page.until("it is off again", async () => !/what if/.test(await page.text(page.verdict)));
    assert.ok(!(await marked(page)).includes("dashed"));
  }, { fragment: "#" + link.split("#")[1] });
});

test("dragging time follows the pointer, also beside the score", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    const last = await page.last();
    const box = await page.slider.boundingBox();
    const head = await page.tab.locator(".playhead").boundingBox();
    const mouse = page.tab.mouse;
    await mouse.move(head.x + head.width / 2, box.y + box.height / 2);
    await mouse.down();
    await mouse.up();
    await page.rest();
    assert.equal(await page.at(), last, "a press on the playhead moves nothing");
    await mouse.move(head.x, box.y + box.height / 2);
    await mouse.down();
    await mouse.move(box.x + 200, box.y - 150, { steps: 8 });
    await page.until("an older moment is shown", async () => (await page.at()) < last);
    await mouse.move(box.x + 1, box.y - 150, { steps: 4 });
    await mouse.up();
    await page.until("the first step of the left end", async () => (await page.at()) < 5);
    assert.equal(await page.tab.evaluate(() => document.activeElement.getAttribute("aria-label")), "Timeline");
  }, { still: true });
});

test("before the first pull the registry shows what the file names, the ruler the deadline, the verdict the difference", async () => {
  await visit(async (page) => {
    const registry = page.tab.getByRole("group", { name: "Registry" });
    await page.until("the tag of the file", async () => /checkout:1\.9\.2 not there · nobody asked yet/.test(await page.text(registry)));
    assert.match(await page.tab.locator(".ruler").getAttribute("aria-label"), /the deadline 10m/);
    await page.until("the verdict", async () => /^Converged .*but the file says 1\.9\.2 and the cluster has 1\.9\.1\./.test(await page.text(page.verdict)));
    await page.write((await page.file()).replace("checkout:1.9.2", "checkout:1.9.3"));
    await page.until("another tag", async () => /checkout:1\.9\.3 not there/.test(await page.text(registry)));
    assert.doesNotMatch(await page.text(registry), /checkout:1\.9\.2/);
    await page.tab.getByRole("button", { name: "Push it: checkout:1.9.3" }).click();
    await page.until("it is there", async () => /checkout:1\.9\.3 pulls in/.test(await page.text(registry)));
  });
});

test("loops with something to do have a card, the others a line, and nothing moves while stepping", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.tab.keyboard.press("g");
    const group = page.tab.getByRole("group", { name: "Loops" });
    await group.waitFor();
    const cards = await group.getByRole("article").evaluateAll((list) => list.map((e) => e.getAttribute("aria-label").trim()));
    assert.deepEqual(["Deployment controller", "ReplicaSet controller", "scheduler", "kubelet node-1"].filter((name) => !cards.includes(name)), []);
    assert.match(await page.text(page.tab.getByRole("list", { name: "Other loops" })), /garbage collector/);
    const places = () => group.getByRole("article").evaluateAll((list) => list.map((e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.height].map(Math.round).join(); }));
    const before = await places();
    for (let i = 0; i < 12; i++) {
      await page.press("Step");
      assert.deepEqual(await places(), before, await page.sentence());
    }
  });
});
