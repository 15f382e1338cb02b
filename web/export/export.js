// What can be taken away from a moment: fetched when *Share* is opened. It fills the place that the dialog leaves for it.
import { pngOf, svgOf } from "./picture.js";

const GERMAN = {
  "Take it away": "Zum Mitnehmen",
  "Picture (SVG)": "Bild (SVG)",
  "Picture (PNG)": "Bild (PNG)",
  "Steps (Markdown)": "Schritte (Markdown)",
  "Take it to a real cluster": "In einen echten Cluster mitnehmen",
  "A shell script with the manifests and commands of this run, for kind, minikube or any cluster.": "Ein Shell-Skript mit den Manifesten und Befehlen dieses Laufs, für kind, minikube oder jeden Cluster.",
  "Save this run as a lesson": "Diesen Lauf als Lektion sichern",
  "Saved.": "Gesichert.",
  "after": "nach",
  "Working …": "In Arbeit …",
  "There is no board to draw here.": "Hier ist kein Bild zu zeichnen.",
};

/** Lets the browser save a text or a blob as a file. */
export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The files of the lesson that a link leads into, as the simulator takes them. */
export async function sourcesOf(lesson, site) {
  if (!lesson) return "";
  const folder = new URL("lessons/", site);
  const map = await (await fetch(new URL("index.json", folder))).json();
  const files = map.lessons.find((l) => l.id === lesson)?.words.en.files ?? [];
  const texts = await Promise.all(files.map(async (name) => (await fetch(new URL(name, folder))).text()));
  return files.map((name, i) => `${name}\u001e${texts[i]}\u001e`).join("");
}

let worker = null;
let next = 0;
/** So long at most: what takes longer has no end. */
const PATIENCE = 90_000;

/** Asks a simulator of its own; rejects with why it cannot be made. */
export function ask(what, text, sources = "") {
  worker ??= begin();
  const id = ++next;
  return worker.then((running) => new Promise((yes, no) => {
    const late = setTimeout(() => {
      running.terminate();
      worker = null;
      no(new Error("it took too long"));
    }, PATIENCE);
    running.addEventListener("message", function heard({ data }) {
      if (data.id !== id) return;
      clearTimeout(late);
      running.removeEventListener("message", heard);
      data.error === undefined ? yes(data.text) : no(new Error(data.error));
    });
    running.postMessage({ id, what, text, sources });
  }));
}

function begin() {
  const running = new Worker(new URL("author_worker.js", import.meta.url));
  return new Promise((yes, no) => {
    const failed = (why) => {
      worker = null;
      no(new Error(why || "its file could not be loaded"));
    };
    running.onerror = (event) => failed(event.message);
    // Some word comes first that only the page means.
    running.onmessage = ({ data }) => {
      if (data?.error) failed(data.error);
      if (!data?.ready) return;
      running.onmessage = null;
      yes(running);
    };
  });
}

const nameOf = (title) => (title || "kubestep").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "kubestep";

/** Steps as Markdown in another language: what is marked in a sentence is the same in every one. */
export function translated(markdown, said, after) {
  const words = (line) => {
    const spans = [];
    const flat = line.replace(/\*\*(?:\\.|[^*])+\*\*|(`+) ?.+? ?\1/g, (span) => String.fromCharCode(0xe000 + spans.push(span) - 1));
    return said(flat).replace(/[\ue000-\uf8ff]/g, (mark) => spans[mark.charCodeAt(0) - 0xe000] ?? "");
  };
  return markdown.split("\n").map((line) => {
    const [, verdict, time] = line.match(/^\*\*(\w+)\*\* after (.+)\.$/) ?? [];
    if (verdict) return `**${said(verdict)}** ${after} ${time}.`;
    const [, number, rest] = line.match(/^(\d+\. \+\S+(?: \d+\S+)* )(.+)$/) ?? [];
    return number ? number + words(rest) : words(line);
  }).join("\n");
}

/** Fills the dialog's place. `link` is the text of the shown moment; `scenario` what it began from. */
export function fill(place, link, scenario, title, language, speak) {
  if (place.dataset.link === link) return;
  place.dataset.link = link;
  const t = (english) => (language === "de" && GERMAN[english]) || english;
  const name = nameOf(title);
  const said = Object.assign(document.createElement("span"), { className: "label" });
  said.setAttribute("role", "status");
  said.setAttribute("aria-label", t("Take it away"));
  const button = (words, work) => {
    const made = Object.assign(document.createElement("button"), { className: "btn btn-s", textContent: t(words) });
    made.onclick = async () => {
      said.textContent = t("Working …");
      try {
        await work();
        said.textContent = t("Saved.");
      } catch (why) {
        said.textContent = String(why.message ?? why);
      }
    };
    return made;
  };
  const drawn = () => {
    const board = document.querySelector(".stage .board") ?? document.querySelector(".stage > *");
    if (!board) throw new Error(t("There is no board to draw here."));
    return svgOf(board, title);
  };
  const lesson = scenario.startsWith("lesson:") ? scenario.slice(7) : "";
  const made = async (what) => ask(what, link, await sourcesOf(lesson, document.baseURI));
  const script = button("Take it to a real cluster", async () => save(`${name}.sh`, await made("script"), "text/x-shellscript"));
  script.title = t("A shell script with the manifests and commands of this run, for kind, minikube or any cluster.");
  const author = Object.assign(document.createElement("a"), { className: "btn btn-s", textContent: t("Save this run as a lesson"), target: "_blank", rel: "noopener" });
  author.href = new URL(`author.html${language === "de" ? "?lang=de" : ""}#${lesson ? `${lesson}!` : ""}${link}`, document.baseURI).href;
  place.replaceChildren(
    Object.assign(document.createElement("span"), { className: "label", textContent: t("Take it away") }),
    Object.assign(document.createElement("span"), { className: "takes" }),
    said,
  );
  place.querySelector(".takes").append(
    button("Picture (SVG)", () => save(`${name}.svg`, drawn(), "image/svg+xml")), " ",
    button("Picture (PNG)", async () => save(`${name}.png`, await pngOf(drawn()), "image/png")), " ",
    button("Steps (Markdown)", async () => save(`${name}.md`, translated(await made("steps"), speak, t("after")), "text/markdown")), " ",
    script, " ", author,
  );
}
