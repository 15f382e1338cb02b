// The recipe for React: a component that makes its figure in an effect and takes it away with itself.
import { StrictMode, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";

function Figure({ site, ...options }) {
  const place = useRef(null);
  const said = JSON.stringify(options);
  useEffect(() => {
    let figure = null;
    let gone = false;
    import(/* webpackIgnore: true */ `${site}kubestep.js`).then(({ createFigure }) => {
      if (!gone) figure = createFigure(place.current, JSON.parse(said));
    });
    return () => {
      gone = true;
      figure?.destroy();
    };
  }, [site, said]);
  return <div ref={place} style={{ width: 700 }} />;
}

const root = createRoot(document.getElementById("root"));
const site = document.documentElement.dataset.site;
window.render = (options) => root.render(<StrictMode><h1>Guide</h1><Figure site={site} {...options} /></StrictMode>);
window.unmount = () => root.unmount();
window.render({ source: { scenario: "P05" }, title: "first", loading: "eager" });
