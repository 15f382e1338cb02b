// The story that Kubernetes' own pages tell of a rollout: a tag that does not exist, seen and undone, typed as one would.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./page.mjs";

test("a tag that does not exist, seen and undone, by keys alone in the terminal", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
    const entries = () => page.terminal.locator("pre").count();
    const last = async () => (await page.terminal.locator("pre").last().textContent()) || "";
    // Types words; "⇥" is Tab, which must make the line longer.
    const type = async (...parts) => {
      for (const part of parts) {
        if (part !== "⇥") {
          await keys.type(part);
          continue;
        }
        const before = await field.inputValue();
        await keys.press("Tab");
        await page.until(`Tab completes ${before}`, async () => (await field.inputValue()).length > before.length);
      }
    };
    const enter = async () => {
      const before = await entries();
      await keys.press("Enter");
      await page.until("an answer", async () => (await entries()) > before);
    };
    await keys.press("t");
    await page.until("t goes into the terminal", () => page.tab.evaluate(() => document.activeElement.id === "kubectl"));

    await type("kubectl set im", "⇥", "deployment/cart cart=registry.example.com/cart:4.161");
    await enter();
    assert.match(await last(), /deployment\.apps\/cart image updated/);

    await type("kubectl rollout st", "⇥", "deployment/cart");
    await enter();
    await page.until("it says what it waits for", async () => /Waiting for deployment/.test(await last()));
    assert.match(await last(), /waits in virtual time/);
    await keys.press("Control+c");
    await page.until("Ctrl-C ends it", async () => /exit 130/.test(await last()));

    // Time passes: the new pod asks for its image.
    await keys.press("Escape");
    await page.tab.evaluate(() => document.activeElement.blur());
    await page.pressKey("c");
    await keys.press("t");
    await type("kubectl get pods -o w", "⇥");
    await enter();
    await page.until("the pods are listed", async () => /ImagePullBackOff|ErrImagePull/.test(await last()));
    await type("kubectl desc", "⇥", "deployment/cart");
    await enter();
    await page.until("it is described", async () => /NewReplicaSet: +cart-/.test(await last()));
    assert.match(await last(), /OldReplicaSets: +cart-\S+ \(\d\/\d replicas created\)/);

    await type("kubectl rollout un", "⇥", "deployment/cart");
    await enter();
    assert.match(await last(), /deployment\.apps\/cart rolled back/);
    // What was typed before comes back with an arrow.
    await keys.press("ArrowUp");
    await page.until("the line is back", async () => /rollout undo/.test(await field.inputValue()));
  }, { fragment: "#scenario=P15" });
});

test("what is typed right after the key that leads there is all in the terminal, shown or hidden", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
    for (let round = 0; round < 10; round++) {
      const hide = page.tab.getByRole("button", { name: "Hide", exact: true });
      if (round % 2) await hide.click();
      await page.tab.evaluate(() => document.activeElement.blur());
      await keys.press("t");
      await keys.type("kubectl get pods");
      assert.equal(await field.inputValue(), "kubectl get pods");
      for (let i = 0; i < 16; i++) await keys.press("Backspace");
    }
  });
});

test("Ctrl-C ends one waiting command after the other", async () => {
  await visit(async (page) => {
    const waits = () => page.terminal.getByText("waits in virtual time").count();
    const keys = page.tab.keyboard;
    await keys.press("t");
    for (const [line, many] of [["kubectl get pods -w", 1], ["kubectl get svc -w", 2]]) {
      await keys.type(line);
      await keys.press("Enter");
      await page.until(`${line} waits`, async () => (await waits()) === many);
    }
    for (const [key, left] of [["Control+C", 1], ["Control+c", 0]]) {
      await keys.press(key);
      await page.until(`${left} left`, async () => (await waits()) === left);
    }
  });
});

test("lines that are pasted run as lines, a here-document as one", async () => {
  await visit(async (page) => {
    const paste = (text) => page.tab.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.getElementById("kubectl").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
    const said = () => page.terminal.textContent();
    await paste("kubectl get ns default\nkubectl get nodes\n");
    await page.until("both answer", async () => /Active/.test(await said()) && /node-1 +Ready/.test(await said()));
    await paste("cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: pasted\nEOF\n");
    await page.until("it is applied", async () => /configmap\/pasted created/.test(await said()));
  });
});

test("a here-document is typed line by line, and Ctrl-C drops one", async () => {
  await visit(async (page) => {
    const { keyboard } = page.tab;
    const said = () => page.terminal.textContent();
    await page.tab.locator("#kubectl").focus();
    const type = async (lines) => {
      for (const line of lines) {
        await keyboard.type(line);
        await keyboard.press("Enter");
      }
    };
    await type(["cat <<EOF | kubectl apply -f -", "apiVersion: v1", "kind: ConfigMap"]);
    await page.until("the lines stand there", async () => (await said()).endsWith("$ cat <<EOF | kubectl apply -f -\n> apiVersion: v1\n> kind: ConfigMap"));
    await keyboard.press("Control+c");
    await page.until("they are gone", async () => !(await said()).includes("cat"));
    await type(["cat <<EOF | kubectl apply -f -", "apiVersion: v1", "kind: ConfigMap", "metadata: {name: typed}", "data: {a: it's}", "EOF"]);
    await page.until("it is applied", async () => /configmap\/typed created/.test(await said()));
    await type(["kubectl get configmap \\", "  typed"]);
    await page.until("the line went on", async () => /\ntyped +1 /.test(await said()));
  });
});

test("a name in a table selects its object, a state has its colour", async () => {
  await visit(async (page) => {
    await page.kubectl("kubectl get pods");
    const name = page.terminal.locator("button.name").first();
    const pod = await name.textContent();
    await name.click();
    await page.until("it is selected", async () => (await page.text(page.tab.locator(".subject"))).includes(pod));
    assert.equal(await page.terminal.locator(".is-good").first().textContent(), "1/1");
    assert.ok((await page.terminal.locator(".is-good", { hasText: "Running" }).count()) > 0);
  }, { fragment: "#scenario=P15" });
});

test("of a long answer the last lines are drawn, and the earlier ones when they are asked for", async () => {
  await visit(async (page) => {
    await page.kubectl("kubectl get clusterroles -o yaml");
    const answer = page.terminal.locator("pre").last();
    const lines = async () => (await answer.textContent()).split("\n").length;
    const more = answer.getByRole("button", { name: /^Show \d+ earlier lines$/ });
    const [hidden, before] = [Number(/\d+/.exec(await more.textContent())[0]), await lines()];
    assert.ok(hidden > 500 && before < 300, `${hidden} hidden, ${before} shown`);
    await more.focus();
    await page.tab.keyboard.press("Enter");
    await page.until("all stand there", async () => (await lines()) === before + hidden - 1);
    assert.equal(await more.count(), 0);
    assert.ok(await page.terminal.evaluate((e) => e === document.activeElement), "one goes on in the terminal");
    await page.kubectl("kubectl get ns default");
    const long = page.terminal.locator("pre").nth((await page.terminal.locator("pre").count()) - 2);
    assert.ok((await long.textContent()).split("\n").length > hidden, "they stay");
  }, { fragment: "#scenario=P15" });
});

test("kubectl explain fetches Kubernetes' descriptions when it is first used", async () => {
  let fetched = 0;
  const count = (route) => {
    fetched += 1;
    return route.continue();
  };
  await visit(async (page) => {
    await page.kubectl("kubectl get pods");
    assert.equal(fetched, 0, "nothing is fetched before it is needed");
    await page.kubectl("kubectl explain pod.spec.nodeName");
    const answer = async () => (await page.terminal.locator("pre").last().textContent()) || "";
    await page.until("the description stands there", async () => /FIELD: nodeName <string>/.test(await answer()) && /scheduler/.test(await answer()));
    await page.kubectl("kubectl explain deployment");
    await page.until("the next one too", async () => /Deployment enables declarative updates/.test(await answer()));
    assert.equal(fetched, 1);
  }, { fragment: "#scenario=P15", routes: [["**/descriptions.txt", count]] });
});

test("kubectl edit opens a file, and Apply saves it", async () => {
  await visit(async (page) => {
    assert.match(await page.kubectl("kubectl edit deployment cart"), /edit-deployment-cart\.yaml is open/);
    await page.until("the file is in front", async () => /kind: Deployment/.test(await page.file()));
    const text = await page.file();
    assert.match(text, /^# Edit the object below/);
    await page.write(text.replace(/replicas: \d+/, "replicas: 5"));
    assert.match(await page.apply(), /deployment\.apps\/cart edited/);
    assert.match(await page.kubectl("kubectl get deployment cart -o jsonpath={.spec.replicas}"), /5/);
  }, { fragment: "#scenario=P15" });
});

test("Ctrl-R searches what was typed, as in a shell", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
    const search = page.terminal.locator("p[aria-live]");
    await keys.press("t");
    for (const line of ["kubectl get ns default", "kubectl get nodes", "kubectl get pods"]) {
      await keys.type(line);
      await keys.press("Enter");
    }
    await page.until("all three answer", async () => (await page.terminal.locator("pre").count()) === 3);
    await keys.type("half a line");
    await keys.press("Control+r");
    await keys.type("no");
    await page.until("the newest line with it", async () => (await search.textContent()) === "(reverse-i-search)`no': kubectl get nodes");
    await keys.type("t there");
    await page.until("none is said", async () => /^\(failed reverse-i-search\)`not there'/.test(await search.textContent()));
    await keys.press("Control+c");
    await page.until("the line is as before", async () => (await field.inputValue()) === "half a line");
    await keys.press("Control+r");
    await keys.type("get");
    await keys.press("Control+r");
    await keys.press("Control+r");
    await page.until("the oldest", async () => /get ns default$/.test(await search.textContent()));
    await keys.press("Escape");
    await page.until("it stands in the line", async () => (await field.inputValue()) === "kubectl get ns default");
    await keys.press("Enter");
    await page.until("and runs", async () => /Active/.test(await page.terminal.locator("pre").nth(3).textContent()));
  });
});

test("several terminals: one watches while one types in the other, by keys alone", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
    const tabs = page.tab.getByRole("tablist", { name: "Terminals" }).getByRole("tab");
    const chosen = async () => (await tabs.count()) && page.tab.getByRole("tablist", { name: "Terminals" }).locator('[aria-selected="true"]').textContent();
    const said = () => page.terminal.textContent();
    await keys.press("t");
    await keys.type("kubectl get pods -w");
    await keys.press("Enter");
    await page.until("it waits", async () => /waits in virtual time/.test(await said()));
    await page.button("New terminal").focus();
    await keys.press("Enter");
    await page.focusIn("#kubectl");
    await page.until("a second, empty", async () => (await chosen()) === "2" && (await said()) === "");
    await keys.press("ArrowUp");
    await page.until("it knows what was typed", async () => (await field.inputValue()) === "kubectl get pods -w");
    await keys.press("Control+c");
    await keys.type("kubectl run extra --image=registry.example.com/cart:4.1.0");
    await keys.press("Enter");
    await page.until("it is created", async () => /pod\/extra created/.test(await said()));
    await keys.type("half");
    for (let i = 0; i < 3; i++) await page.press("Step");
    await keys.press("t");
    await page.focusIn("#kubectl");
    await keys.press("Alt+1");
    await page.until("the first goes on", async () => (await chosen()) === "1" && /extra +0\/1 +Pending/.test(await said()) && /waits in/.test(await said()));
    assert.equal(await field.inputValue(), "");
    // Arrows choose, too, and what stood in the line is there again.
    await tabs.first().focus();
    await keys.press("ArrowRight");
    await page.until("the second", async () => (await chosen()) === "2" && (await field.inputValue()) === "half");
    assert.doesNotMatch(await said(), /waits in/);
    // Back to before the second began: it is empty; forward, and its line is there.
    const at = await page.at();
    for (let i = 0; i < 60 && (await said()) !== ""; i++) await page.press("Back");
    assert.equal(await said(), "");
    while ((await page.at()) < at) await page.press("Forward");
    await page.until("it is there again", async () => /pod\/extra created/.test(await said()));
    // Kept over a reload.
    await page.tab.reload();
    await page.ready();
    await page.until("both are there", async () => (await tabs.count()) === 2);
    await page.until("with its lines", async () => (await chosen()) === "2" && /pod\/extra created/.test(await said()));
    await keys.press("t");
    await page.focusIn("#kubectl");
    assert.equal(await field.inputValue(), "half");
    await keys.press("Control+c");
    // An end: exit, or Ctrl-D on an empty line.
    await keys.type("kubectl get pods -w");
    await keys.press("Enter");
    await page.until("it waits, too", async () => /waits in/.test(await said()));
    await keys.press("Control+d");
    await page.until("only the first is left", async () => (await tabs.count()) === 0 && /waits in/.test(await said()));
    await page.press("Back");
    await page.until("Back opens it again", async () => (await tabs.count()) === 2);
  }, { fragment: "#scenario=P15" });
});

test("a loop and what another command prints, typed as in a shell", async () => {
  await visit(async (page) => {
    const said = (text) => page.kubectl(text);
    assert.match(await said("for n in a b; do kubectl create cm made-$n --from-literal=x=$n; done"), /configmap\/made-a created\s+configmap\/made-b created/);
    assert.match(await said("kubectl delete $(kubectl get cm -o name | grep made)"), /configmap "made-a" deleted.*\s+configmap "made-b" deleted/);
    assert.match(await said("kubectl get pod nothing"), /NotFound/);
    assert.match(await said("echo $?"), /\n1\s*$/);
    assert.match(await said("while true; do kubectl get pods; done"), /while: Kubestep does not do this/);
  });
});

test("what is typed and terminals without a line outlive a reload, but go with their scenario", async () => {
  await visit(async (page) => {
    const keys = page.tab.keyboard;
    const field = page.tab.getByRole("textbox", { name: "kubectl", exact: true });
    const tabs = page.tab.getByRole("tablist", { name: "Terminals" }).getByRole("tab");
    await page.kubectl("kubectl get ns default");
    await page.button("New terminal").click();
    await page.button("New terminal").click();
    await page.until("three terminals", async () => (await tabs.count()) === 3);
    await page.focusIn("#kubectl");
    await keys.type("kubectl scale deploy");
    await page.drawn();
    await page.tab.reload();
    await page.ready();
    await page.until("they are there", async () => (await tabs.count()) === 3);
    assert.equal(await tabs.nth(2).getAttribute("aria-selected"), "true");
    await page.until("with the line", async () => (await field.inputValue()) === "kubectl scale deploy");
    await field.focus();
    await keys.press("Control+c");
    await keys.press("ArrowUp");
    await page.until("and what was typed before", async () => (await field.inputValue()) === "kubectl get ns default");
    await page.tab.evaluate(() => { location.hash = "#scenario=P05"; });
    await page.until("another scenario has one", async () => (await tabs.count()) === 0 && (await page.terminal.locator("pre").count()) === 0);
  }, { fragment: "#scenario=P15" });
});

test("in the past × asks before it begins a new timeline, and where nothing is written down it begins none", async () => {
  await visit(async (page) => {
    const tabs = page.tab.getByRole("tablist", { name: "Terminals" }).getByRole("tab");
    const asks = page.terminal.getByText("starts a new timeline");
    const close = page.button("Close this terminal");
    await page.button("New terminal").click();
    await page.until("a second", async () => (await tabs.count()) === 2);
    await page.kubectl("kubectl get ns default");
    for (let i = 0; i < 3; i++) await page.press("Step");
    await page.press("Back");
    await page.button("New terminal").click();
    await page.until("a third, in the past", async () => (await tabs.count()) === 3);
    const last = await page.last();
    await close.click();
    await page.until("it goes without a question", async () => (await tabs.count()) === 2);
    assert.equal(await page.last(), last);
    await close.click();
    await asks.waitFor();
    await page.drawn();
    assert.deepEqual([await tabs.count(), await page.last()], [2, last], "nothing is done yet");
    await close.click();
    await page.until("asked twice, it is closed", async () => (await tabs.count()) === 0);
    assert.ok((await page.last()) <= last);
  }, { fragment: "#scenario=P15" });
});

test("a misspelt command is told what it was meant to be", async () => {
  await visit(async (page) => {
    assert.match(await page.kubectl("gte pods -o wide"), /gte: command not found\nDid you mean: kubectl get pods -o wide\n/);
    assert.match(await page.kubectl("kubctl get pods"), /kubctl: command not found\nDid you mean: kubectl get pods\n/);
    assert.match(await page.kubectl("get ns default"), /default +Active/);
    assert.doesNotMatch(await page.kubectl("frobnicate pods"), /Did you mean/);
  }, { fragment: "#scenario=P15" });
});
