// The simulator alone, as the browser runs it: the worker's own wasm and JavaScript in node, without a page. It plays replicas on
// nodes of a hundred from apply to calm and prints JSON lines. `node tests/browser/bench_worker.mjs [FOLDER]` after
// `cargo xtask build`; FOLDER holds worker.js and worker_bg.wasm (the site's own assets, if it is not named).
//
//   --pods N        so many replicas (1000)
//   --service       a Service before them
//   --runs N        so many runs (3)
//   --drawn MS      the page has drawn a picture after so many milliseconds (16); `never`: no picture but the last
//   --steps         each step by itself, as a person presses it, CPU of the process: the slowest by the median of the runs
//   --sums          instead: for every scenario a checksum of all that the worker says while it is played, gone back in and
//                   acted in. Two builds that print the same lines make the same worlds and pictures of them.
//   --commands      lines typed in a terminal once all is calm, each nine times: what one costs with its picture
//
// CPU is what the thread was on a processor, as the kernel counts it: what others do on the machine does not count.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import vm from "node:vm";

const root = path.join(import.meta.dirname, "../..");
const args = process.argv.slice(2);
const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
const option = (name, usual) => (args.includes(name) ? args.splice(args.indexOf(name), 2)[1] : usual);
const pods = Number(option("--pods", 1000));
const runs = Number(option("--runs", 3));
const drawn = option("--drawn", "16");
const service = flag("--service");
const stepwise = flag("--steps");
const sums = flag("--sums");
const commands = flag("--commands");
const site = path.join(root, "dist");
const folder = args[0] ?? path.join(site, readdirSync(site).find((name) => name.startsWith("assets-")));

const say = (name, values) => console.log(JSON.stringify({ bench: name, ...values }));
const round = (n) => Math.round(n * 100) / 100;
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const cpu = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

// Requests as the page encodes them. The numbers of the commands are their places in the protocol's own list.
const protocol = readFileSync(path.join(root, "crates/protocol/src/command.rs"), "utf8");
const variants = (name) => {
  const body = protocol.slice(protocol.indexOf(`pub enum ${name} {`)).split("\n}\n")[0];
  return [...body.matchAll(/^ {4}([A-Z]\w*)/gm)].map((m) => m[1]);
};
const numbers = { Command: variants("Command"), NodeAct: variants("NodeAct") };
const number = (n) => {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return [...bytes, n];
};
const text = (words) => [...number(Buffer.byteLength(words)), ...Buffer.from(words)];
const variant = (list, name) => {
  const at = numbers[list].indexOf(name);
  if (at < 0) throw new Error(`the protocol has no ${list} ${name}`);
  return number(at);
};
const command = (name, ...fields) => [...variant("Command", name), ...fields.flat()];

// A worker: a world of its own, with the little that it asks of a browser. Its wake-ups are left to the caller.
async function worker() {
  const said = { bytes: 0, waits: false, sum: createHash("sha1") };
  const channel = { port1: { onmessage: null }, port2: { postMessage: () => { said.waits = true; } } };
  const scope = {
    TextDecoder, TextEncoder, WebAssembly, console, URL, Uint8Array, Array, Object, Error,
    MessageChannel: function () { return channel; },
    postMessage: (message) => {
      if (!message) return;
      said.bytes += message.byteLength;
      if (sums) said.sum.update(message);
    },
  };
  scope.self = scope;
  scope.location = { href: "http://localhost/worker.js" };
  vm.createContext(scope);
  const load = vm.runInContext(`${readFileSync(path.join(folder, "worker.js"), "utf8")}\nwasm_bindgen`, scope);
  await load({ module_or_path: readFileSync(path.join(folder, "worker_bg.wasm")) });
  let id = 0;
  const send = (bytes) => {
    id += 1;
    scope.onmessage({ data: Uint8Array.from([...number(id), ...bytes]) });
  };
  const slice = () => { said.waits = false; channel.port1.onmessage(); };
  return { said, send, slice };
}

// Draws whatever was sent: a number above every picture's.
const DRAWN = command("Drawn", number(0xffffffff));

// Asks, and lets the run go on to its end. The page is another thread: it has drawn a picture some time after it was sent.
function play(w, bytes, after) {
  w.send(bytes);
  let [before, since, pictures, longest] = [w.said.bytes, performance.now(), 0, 0];
  while (w.said.waits) {
    const begun = performance.now();
    w.slice();
    longest = Math.max(longest, performance.now() - begun);
    if (w.said.bytes > before) {
      [before, since, pictures] = [w.said.bytes, performance.now(), pictures + 1];
    } else if (performance.now() - since >= after) {
      w.send(DRAWN);
    }
  }
  w.send(DRAWN);
  return { pictures, longest };
}

const manifest = (replicas) => {
  const before = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
`;
  return `${service ? before : ""}apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.29"}]}
`;
};

// A cluster with room for the pods, which are asked for.
async function asked() {
  const w = await worker();
  play(w, command("LoadScenario", text("empty")), 0);
  for (let i = 3; i < pods / 100; i++) play(w, command("Node", variant("NodeAct", "Add")), 0);
  play(w, command("Advance", number(60_000)), 0);
  play(w, command("Apply", text("web.yaml"), text(manifest(pods))), 0);
  return w;
}

const CALM = command("UntilCalm");
const name = `${pods} replicas${service ? " behind a Service" : ""}`;

async function calm() {
  const w = await asked();
  const [begun, all, bytes] = [cpu(), process.cpuUsage(), w.said.bytes];
  let [pictures, longest] = [0, 0];
  // One run ends after 10,000 steps at most; one that is calm already ends at once.
  for (let i = 0; i < 5; i++) {
    const part = play(w, CALM, drawn === "never" ? Infinity : Number(drawn));
    pictures += part.pictures;
    longest = Math.max(longest, part.longest);
  }
  const used = process.cpuUsage(all);
  return { cpu_ms: round(cpu() - begun), with_compiler_ms: round((used.user + used.system) / 1000), pictures, picture_kB: round((w.said.bytes - bytes) / 1000 / pictures), longest_slice_ms: round(longest) };
}

// Every step with its picture, one by one.
async function steps() {
  const w = await asked();
  const times = [];
  const step = command("Step", [0]);
  while (times.length < pods * 11) {
    const begun = process.cpuUsage();
    play(w, step, Infinity);
    const used = process.cpuUsage(begun);
    times.push((used.user + used.system) / 1000);
  }
  return times;
}

// What is said while a world is played, looked back at, and acted in again.
function played(w, acts) {
  const steps = (name, times) => { for (let i = 0; i < times; i++) play(w, command(name, ...(name === "Step" ? [[0]] : [])), 0); };
  steps("Step", 150);
  for (let i = 0; i < 3; i++) play(w, CALM, Infinity);
  steps("Back", 40);
  acts();
  steps("Step", 60);
  play(w, command("Advance", number(700_000)), Infinity);
  play(w, command("Seek", [0, 10]), 0);
  play(w, command("Whole"), 0);
  play(w, command("Hash"), 0);
  return w.said.sum.digest("hex");
}

async function checksums() {
  const stories = path.join(root, "crates/engine/scenarios");
  for (const file of readdirSync(stories).sort()) {
    const id = /^id: (\S+)/m.exec(readFileSync(path.join(stories, file), "utf8"))[1];
    const w = await worker();
    play(w, command("LoadScenario", text(id)), 0);
    console.log(id, played(w, () => {}));
  }
  const w = await asked();
  console.log(name, played(w, () => play(w, command("Apply", text("web.yaml"), text(manifest(Math.ceil(pods / 2)))), 0)));
}

// Those that read all pods or all events, and two that read little: what is left of them is the same for every command.
const LINES = [
  "get pods", "get pods -o wide", "get deploy", "get pods -o yaml", "get pods -o json", "get pods -o jsonpath={.items[*].metadata.name}",
  "get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName", "get pods --sort-by=.metadata.name", "get events", "events",
  "describe deploy web", "describe node node-1", "wait --for=condition=Ready pod -l app=web --timeout=1s",
];

async function typed() {
  const w = await asked();
  for (let i = 0; i < 5; i++) play(w, CALM, Infinity);
  for (const line of LINES) {
    const times = [];
    for (let i = 0; i < 9; i++) {
      const begun = cpu();
      play(w, command("Kubectl", [0], text(`kubectl ${line}`), [0]), Infinity);
      times.push(cpu() - begun);
    }
    say(`${name}, kubectl ${line}`, { cpu_ms: round(quantile(times, 0.5)), most_ms: round(Math.max(...times)) });
  }
}

if (sums) {
  await checksums();
} else if (commands) {
  await typed();
} else if (stepwise) {
  const plays = [];
  for (let i = 0; i < runs; i++) plays.push(await steps());
  const times = plays[0].map((_, at) => quantile(plays.map((p) => p[at]), 0.5));
  const worst = [...times.keys()].sort((a, b) => times[b] - times[a]).slice(0, 10);
  say(`${name}, a step with its picture`, { steps: times.length, runs, median_ms: round(quantile(times, 0.5)), p99_ms: round(quantile(times, 0.99)), worst_ms: round(times[worst[0]]), over_16_ms: times.filter((t) => t > 16).length });
  say(`${name}, the slowest steps`, { steps: worst.map((at) => [at, round(times[at])]) });
} else {
  const all = [];
  for (let i = 0; i < runs; i++) {
    const one = await calm();
    all.push(one.cpu_ms);
    say(`${name} to calm`, one);
  }
  say(`${name} to calm, median`, { runs, drawn_after_ms: drawn, cpu_ms: round(quantile(all, 0.5)), least_ms: round(Math.min(...all)) });
}
