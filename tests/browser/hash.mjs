// The same hash natively and in wasm. `cargo test` has played sessions natively (tests/hashes.rs) and written their links
// and hashes down; here the page opens the same links, and presses the same buttons, in the wasm worker.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { visit } from "./page.mjs";

const FILE = path.join(process.env.CARGO_TARGET_DIR || "target", "tmp", "sessions.json");

function played() {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch (error) {
    assert.fail(`${FILE}: ${error.message}. Run \`cargo test -p kubestep-tests hashes\` first, as \`cargo xtask test\` does.`);
  }
}

test("a session's link comes to the same world in wasm as natively", async () => {
  const sessions = played();
  assert.ok(sessions.length >= 50, `${sessions.length} sessions`);
  for (const { name, link, hash } of sessions) {
    await visit(async (page) => {
      assert.equal(await page.hash(), hash, name);
    }, { fragment: `#${link}` });
  }
});

test("the same buttons come to the same world in wasm as natively", async () => {
  const sessions = played().filter((s) => s.presses.length > 0);
  assert.ok(sessions.length > 0);
  for (const { name, presses, hash } of sessions) {
    await visit(async (page) => {
      for (const name of presses) await (name === "Apply" ? page.apply() : page.press(name));
      assert.equal(await page.hash(), hash, name);
    });
  }
});
