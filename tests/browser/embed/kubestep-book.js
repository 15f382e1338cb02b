// book.toml: [output.html] additional-js = ["kubestep-book.js"]. mdBook loads it as a classic script: `import` is a function here.
import("{{SITE}}kubestep.js").then(() => {
  const dark = () => /navy|coal|ayu/.test(document.documentElement.className);
  const set = () => document.querySelectorAll("kubestep-figure").forEach((f) => f.setAttribute("theme", dark() ? "dark" : "light"));
  new MutationObserver(set).observe(document.documentElement, { attributeFilter: ["class"] });
  set();
});
