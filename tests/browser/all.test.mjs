// Drives the built site in a real Chromium by role and name, as a person or a screen reader would.
// One process and one browser for all: `cargo xtask test` builds and serves the site and sets KUBESTEP_URL and CHROMIUM.
import { after, before } from "node:test";
import { start, stop } from "./page.mjs";

before(start);
after(stop);

await import("./story.mjs");
await import("./stories.mjs");
await import("./drafts.mjs");
await import("./runs.mjs");
await import("./verdicts.mjs");
await import("./lessons.mjs");
await import("./hash.mjs");
await import("./bad_input.mjs");
await import("./keyboard.mjs");
await import("./kubectl.mjs");
await import("./looks.mjs");
await import("./mended.mjs");
await import("./german.mjs");
await import("./course.mjs");
await import("./places.mjs");
await import("./whole_lesson.mjs");
