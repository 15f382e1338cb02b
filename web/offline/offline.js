// Registers the script that keeps the site offline, once the page is at rest, and says when a newer version is there.

/** A row at the bottom of the page, until the reader decides. */
function tell(worker) {
  const row = document.createElement("div");
  row.className = "update-note";
  row.setAttribute("role", "status");
  const words = document.createElement("span");
  words.textContent = "A newer version of Kubestep is there. Your run stays.";
  const now = document.createElement("button");
  now.className = "btn btn-s btn-solid";
  now.textContent = "Load it";
  const later = document.createElement("button");
  later.className = "btn btn-s";
  later.textContent = "Later";
  later.onclick = () => row.remove();
  now.onclick = () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    worker.postMessage("take over");
  };
  row.append(words, now, later);
  document.body.append(row);
}

async function keep() {
  const registration = await navigator.serviceWorker.register(new URL("sw.js", document.baseURI));
  const installed = (worker) => {
    // Without a controller this is the first visit: nothing is newer.
    if (worker?.state === "installed" && navigator.serviceWorker.controller) tell(worker);
  };
  installed(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    worker?.addEventListener("statechange", () => installed(worker));
  });
}

if ("serviceWorker" in navigator) {
  // After everything that the first picture needs.
  const start = () => setTimeout(() => keep().catch(() => { /* a page without it works, too */ }), 1500);
  if (document.readyState === "complete") start();
  else addEventListener("load", start, { once: true });
}
