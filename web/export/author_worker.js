// A simulator of its own for what is made of a link: the shown session is not kept waiting. One question at a time.
importScripts("worker.js");
const begun = wasm_bindgen({ module_or_path: "worker_bg.wasm" });
begun.then(() => {
  self.onmessage = ({ data: { id, what, text, sources } }) => {
    try {
      self.postMessage({ id, text: wasm_bindgen.author(what, text, sources ?? "") });
    } catch (why) {
      self.postMessage({ id, error: String(why?.message ?? why) });
    }
  };
  self.postMessage({ ready: true });
}, (why) => self.postMessage({ error: String(why?.message ?? why) }));
