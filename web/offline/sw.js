// Keeps the whole site for times without a network. One version at a time: a new one is fetched completely, waits until
// the reader asks for it or has closed every page, and then the old one goes.
const CACHE = `kubestep-${self.registration.scope}-__VERSION__`;
const FILES = [
  "__FILES__",
];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const mine = `kubestep-${self.registration.scope}-`;
    for (const name of await caches.keys()) {
      if (name.startsWith(mine) && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

// The page says that its reader wants the version that waits.
self.addEventListener("message", (event) => {
  if (event.data === "take over") self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith((async () => {
    const url = new URL(request.url);
    const inside = url.pathname.slice(new URL(self.registration.scope).pathname.length);
    const cache = await caches.open(CACHE);
    const kept = await cache.match(new URL(inside || "index.html", self.registration.scope).href);
    return kept || fetch(request);
  })());
});
