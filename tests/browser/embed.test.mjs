// Figures in other people's pages, in a real Chromium, by role and name.
import { after, before } from "node:test";
import { close, serve } from "./embed/host.mjs";
import { start, stop } from "./page.mjs";

before(async () => {
  await start();
  await serve();
});
after(async () => {
  await stop();
  await close();
});

await import("./embed/figures.mjs");
await import("./embed/failures.mjs");
await import("./embed/pages.mjs");
await import("./embed/hostile.mjs");
await import("./embed/offline.mjs");
await import("./embed/classroom.mjs");
await import("./embed/export.mjs");
