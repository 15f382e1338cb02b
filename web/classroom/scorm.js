// A SCORM 1.2 package: a zip that a learning platform imports. It holds a page that loads the figure from this site and
// tells the platform when the lesson is solved.

const TABLE = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc = (bytes) => ~bytes.reduce((c, b) => TABLE[(c ^ b) & 255] ^ (c >>> 8), -1) >>> 0;

/** A zip of files that are stored as they are: `{name: text}`. */
export function zip(files) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [title, data] = [new TextEncoder().encode(name), new TextEncoder().encode(text)];
    // Version 2.0, names in UTF-8, stored, 1 January 1980.
    const common = [20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
    const numbers = new DataView(new ArrayBuffer(16));
    numbers.setUint32(0, crc(data), true);
    numbers.setUint32(4, data.length, true);
    numbers.setUint32(8, data.length, true);
    numbers.setUint16(12, title.length, true);
    const sizes = new Uint8Array(numbers.buffer);
    parts.push(Uint8Array.of(0x50, 0x4b, 3, 4, ...common, ...sizes), title, data);
    const place = new DataView(new ArrayBuffer(4));
    place.setUint32(0, offset, true);
    central.push(Uint8Array.of(0x50, 0x4b, 1, 2, 20, 0, ...common, ...sizes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(place.buffer)), title);
    offset += 30 + title.length + data.length;
  }
  const size = central.reduce((sum, part) => sum + part.length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, central.length / 2, true);
  end.setUint16(10, central.length / 2, true);
  end.setUint32(12, size, true);
  end.setUint32(16, offset, true);
  return new Blob([...parts, ...central, end.buffer], { type: "application/zip" });
}

const xml = (text) => String(text).replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);

function manifest(klass, titles) {
  const items = klass.lessons.map((id, i) => `<item identifier="item-${i}" identifierref="res-${i}"><title>${xml(titles[id] ?? id)}</title></item>`).join("");
  const resources = klass.lessons.map((id, i) => `<resource identifier="res-${i}" type="webcontent" adlcp:scormtype="sco" href="${id}.html"><file href="${id}.html"/></resource>`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="kubestep-${xml(klass.code || "class").replace(/[^A-Za-z0-9-]/g, "-")}" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
<metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
<organizations default="org"><organization identifier="org"><title>${xml(klass.title || "Kubestep")}</title>${items}</organization></organizations>
<resources>${resources}</resources>
</manifest>
`;
}

/** The page of one lesson: looks for the platform's API in the windows around it, as SCORM 1.2 says. */
export function page(site, id, title) {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${xml(title)}</title></head>
<body style="margin:0"><div id="here"></div>
<script type="module">
import { createFigure } from ${JSON.stringify(`${site}kubestep.js`)};
function find(from) {
  for (let w = from, n = 0; w && n < 10; n++) {
    try { if (w.API) return w.API; } catch { return null; }
    if (w.parent === w) return w.opener && n < 9 ? find(w.opener) : null;
    w = w.parent;
  }
  return null;
}
const api = find(window);
api?.LMSInitialize("");
if (api && !/completed|passed/.test(api.LMSGetValue("cmi.core.lesson_status"))) {
  api.LMSSetValue("cmi.core.lesson_status", "incomplete");
  api.LMSCommit("");
}
const begun = Date.now();
const figure = createFigure(document.getElementById("here"), { source: { lesson: ${JSON.stringify(id)} }, loading: "eager", controls: "full", height: "100vh", title: ${JSON.stringify(title)}, show: "lesson,editor,board,verdict,steps,timeline,terminal,registry" });
figure.on("completed", async ({ shown }) => {
  if (!api || shown) return;
  const { lesson } = await figure.getState();
  const all = lesson.predictions.length;
  const score = all ? Math.round(100 * lesson.predictions.filter((p) => p.grade === "right").length / all) : 100;
  api.LMSSetValue("cmi.core.score.min", "0");
  api.LMSSetValue("cmi.core.score.max", "100");
  api.LMSSetValue("cmi.core.score.raw", String(score));
  api.LMSSetValue("cmi.core.lesson_status", "completed");
  api.LMSCommit("");
});
addEventListener("pagehide", () => {
  const s = Math.floor((Date.now() - begun) / 1000), two = (n) => String(n).padStart(2, "0");
  api?.LMSSetValue("cmi.core.session_time", \`\${String(Math.floor(s / 3600)).padStart(4, "0")}:\${two(Math.floor(s / 60) % 60)}:\${two(s % 60)}\`);
  api?.LMSFinish("");
}, { once: true });
</script></body></html>
`;
}

/** The whole package. */
export function packageOf(site, klass, titles) {
  const files = { "imsmanifest.xml": manifest(klass, titles) };
  for (const id of klass.lessons) files[`${id}.html`] = page(site, id, titles[id] ?? id);
  return zip(files);
}
