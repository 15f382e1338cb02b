// The opening story: an image tag that is not in the registry.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("the opening story, from Apply to the deadline, back, and on to the end", async () => {
  await visit(async (page) => {
    assert.match(await page.text(page.verdict), /^Converged/);
    const before = { step: await page.at(), hash: await page.hash() };

    const answer = await page.apply();
    assert.match(answer, /deployment\.apps\/checkout configured/);
    assert.match(answer, /exit 0/);
    assert.match(await page.text(page.tab.locator(".ack")), /Exit 0 told you.*It did not tell you/);

    // The chain of loops, one write at a time.
    await page.stepUntil(/Deployment controller created ReplicaSet checkout-/);
    await page.stepUntil(/ReplicaSet controller created Pod /);
    await page.stepUntil(/scheduler bound Pod .* to node-\d/);
    await page.stepUntil(/Failed to pull image "registry\.example\.com\/checkout:1\.9\.2".*not found/);
    await page.stepUntil(/ErrImagePull → ImagePullBackOff/);
    await page.press("Run until calm");
    assert.match(await page.text(page.verdict), /^Stalled .*because the registry has no checkout:1\.9\.2/);

    // Eight minutes: three old pods serve, the pod says why, the Deployment says nothing new.
    for (let i = 0; i < 8; i++) await page.press("+1 min");
    assert.match(await page.kubectl("kubectl get deployment checkout"), /checkout +3\/3 +1 +3 /);
    const conditions = "kubectl get deployment checkout -o jsonpath={.status.conditions[?(@.type==\"Progressing\")].reason}";
    assert.match(await page.kubectl(conditions), /ReplicaSetUpdated/);
    assert.match(await page.kubectl("kubectl get pods"), /0\/1 +(ImagePullBackOff|ErrImagePull)/);

    // The deadline passes.
    for (let i = 0; i < 3; i++) await page.press("+1 min");
    assert.match(await page.kubectl(conditions), /ProgressDeadlineExceeded/);
    const status = await page.kubectl("kubectl rollout status deployment/checkout");
    assert.match(status, /error: deployment "checkout" exceeded its progress deadline/);
    assert.match(status, /exit 1/);
    assert.match(await page.text(page.why), /says it is late.*says why/);

    // Back before Apply and forward again: the same world.
    const end = { step: await page.at(), hash: await page.hash() };
    await page.slider.fill(String(before.step));
    await page.until("the slider goes back", async () => (await page.at()) === before.step);
    assert.equal(await page.hash(), before.hash, "the same world as before Apply");
    assert.match(await page.text(page.verdict), /^Converged/);
    await page.press("Forward");
    assert.equal(await page.at(), before.step + 1);
    await page.press("Back");
    assert.equal(await page.at(), before.step);
    await page.slider.fill(String(end.step));
    await page.until("the slider goes forward", async () => (await page.at()) === end.step);
    assert.equal(await page.hash(), end.hash, "the same world at the end");

    // Also after everything kept was thrown away and computed again.
    await page.button("Share").click();
    await page.button("Compute it again from the start").click();
    await page.tab.getByText("the same state").waitFor();
    await page.tab.keyboard.press("Escape");
    assert.equal(await page.hash(), end.hash);

    // Pushing the tag ends the stall by itself.
    await page.tab.getByRole("button", { name: /^Push it/ }).click();
    for (let i = 0; i < 12 && !/^Converged/.test(await page.text(page.verdict)); i++) await page.press("+1 min");
    assert.match(await page.text(page.verdict), /^Converged/);
    assert.match(await page.kubectl("kubectl get deployment checkout"), /checkout +3\/3 +3 +3 /);
    assert.match(await page.kubectl("kubectl rollout status deployment/checkout"), /successfully rolled out/);
  });
});

test("acting in the past starts a new timeline and keeps the old one", async () => {
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    const end = { step: await page.at(), hash: await page.hash() };
    for (let i = 0; i < 6; i++) await page.press("Back");
    assert.match(await page.text(page.tab.locator(".clock")), /in the past/);
    await page.kubectl("kubectl scale deployment/checkout --replicas=2");
    assert.doesNotMatch(await page.text(page.tab.locator(".clock")), /in the past/);
    await page.press("Run until calm");
    const other = page.tab.getByRole("button", { name: /^(earlier|other) timeline/ });
    await other.first().click();
    await page.until("the old timeline is shown", async () => (await page.at()) === end.step);
    assert.equal(await page.hash(), end.hash);
  });
});

test("a shared link opens at the exact state and step, with the same drafts", async () => {
  let link, hash, step;
  await visit(async (page) => {
    await page.apply();
    await page.press("Run until calm");
    await page.press("+1 min");
    step = await page.at();
    await page.button("Share").click();
    const panel = page.tab.getByRole("dialog", { name: "Share this moment" });
    await panel.locator("code").waitFor();
    link = await panel.getByRole("textbox", { name: "Link" }).inputValue();
    hash = await panel.locator("code").textContent();
    assert.ok(link.length < 2000, `${link.length} characters`);
  });
  await visit(async (page) => {
    await page.until("the link's step", async () => (await page.at()) === step);
    assert.equal(await page.hash(), hash);
    assert.match(await page.text(page.output), /deployment\.apps\/checkout configured/);
  }, { fragment: "#" + link.split("#")[1] });
});
