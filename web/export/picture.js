// The board as it is drawn, as an SVG of its own: boxes, lines, words and shapes, with the page's light colours. No part of
// it is HTML, so every program that reads SVG shows it.

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]).replace(/[\u0000-\u0008\u000b-\u001f]/g, " ");
const round = (n) => Math.round(n * 10) / 10;
const number = (text) => Number.parseFloat(text) || 0;
const clear = (colour) => colour === "transparent" || /^rgba\(.*,\s*0\)$|\/\s*0\)$/.test(colour);
/** A colour as every program that reads SVG knows it: mixed ones come with parts of 1. */
const ink = (colour) => {
  const mixed = colour.match(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.]+))?\)$/);
  if (!mixed) return colour;
  const [r, g, b] = mixed.slice(1, 4).map((part) => Math.round(255 * part));
  return `rgba(${r}, ${g}, ${b}, ${mixed[4] ?? 1})`;
};

/** What is there to be pressed has no place in a picture. */
const CONTROLS = ".menu, .addnode, .floats";
/** Properties of a shape that a style sheet may have given. */
const SHAPE = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity", "color"];

class Drawing {
  constructor(root) {
    const { left, top, width, height } = root.getBoundingClientRect();
    // What can be scrolled to belongs to it.
    this.frame = { left, top, width: Math.max(width, root.scrollWidth), height: Math.max(height, root.scrollHeight) };
    this.out = [];
    this.clips = 0;
    this.pen = document.createElement("canvas").getContext("2d");
  }

  at(rect) {
    return { x: rect.left - this.frame.left, y: rect.top - this.frame.top, w: rect.width, h: rect.height };
  }

  element(el) {
    if (el.matches(CONTROLS)) return;
    const style = getComputedStyle(el);
    if (style.display === "none" || style.visibility === "hidden" || number(style.opacity) === 0) return;
    const rect = el.getBoundingClientRect();
    const place = this.at(rect);
    if (el instanceof SVGSVGElement) return this.shape(el, place);
    if (el instanceof HTMLCanvasElement) return this.canvas(el, place);
    const contents = style.display === "contents";
    // A button does not cut what stands out of it, whatever its style says.
    const hides = !contents && style.overflow !== "visible" && !(el instanceof HTMLButtonElement);
    // What is only for the ear.
    if (hides && (place.w <= 1 || place.h <= 1)) return;
    const faint = number(style.opacity) < 1;
    if (faint) this.out.push(`<g opacity="${style.opacity}">`);
    if (!contents) {
      this.box(style, place);
      this.pseudo(el, "::before", place);
    }
    if (hides) this.out.push(`<clipPath id="c${++this.clips}"><rect x="${round(place.x)}" y="${round(place.y)}" width="${round(place.w)}" height="${round(place.h)}"/></clipPath><g clip-path="url(#c${this.clips})">`);
    for (const child of el.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) this.element(child);
      else if (child.nodeType === Node.TEXT_NODE) this.words(child, style);
    }
    if (hides) this.out.push("</g>");
    if (!contents) this.pseudo(el, "::after", place);
    if (faint) this.out.push("</g>");
  }

  box(style, { x, y, w, h }) {
    if (w <= 0 || h <= 0) return;
    const radius = Math.min(number(style.borderTopLeftRadius), w / 2, h / 2);
    const sides = ["Top", "Right", "Bottom", "Left"].map((side) => ({
      width: style[`border${side}Style`] === "none" ? 0 : number(style[`border${side}Width`]), colour: style[`border${side}Color`], dashed: style[`border${side}Style`] === "dashed",
    }));
    const [top, right, bottom, left] = sides;
    const even = top.width > 0 && sides.every((s) => s.width === top.width && s.colour === top.colour && s.dashed === top.dashed);
    const fill = clear(style.backgroundColor) ? "none" : ink(style.backgroundColor);
    const inset = even ? top.width / 2 : 0;
    const edge = even && !clear(top.colour) ? ` stroke="${ink(top.colour)}" stroke-width="${top.width}"${top.dashed ? ` stroke-dasharray="${top.width * 3} ${top.width * 2}"` : ""}` : "";
    if (fill !== "none" || edge) {
      this.out.push(`<rect x="${round(x + inset)}" y="${round(y + inset)}" width="${round(Math.max(0, w - 2 * inset))}" height="${round(Math.max(0, h - 2 * inset))}" rx="${round(Math.max(0, radius - inset))}" fill="${fill}"${edge}/>`);
    }
    this.pattern(style.backgroundImage, x, y, w, h);
    if (style.outlineStyle !== "none" && number(style.outlineWidth) > 0 && !clear(style.outlineColor)) {
      const far = number(style.outlineOffset) + number(style.outlineWidth) / 2;
      this.out.push(`<rect x="${round(x - far)}" y="${round(y - far)}" width="${round(w + 2 * far)}" height="${round(h + 2 * far)}" rx="${round(radius)}" fill="none" stroke="${ink(style.outlineColor)}" stroke-width="${style.outlineWidth}"/>`);
    }
    if (even) return;
    const line = (side, x1, y1, x2, y2) => {
      if (side.width > 0 && !clear(side.colour)) this.out.push(`<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke="${ink(side.colour)}" stroke-width="${side.width}"${side.dashed ? ` stroke-dasharray="${side.width * 3} ${side.width * 2}"` : ""} fill="none"/>`);
    };
    line(top, x, y + top.width / 2, x + w, y + top.width / 2);
    line(bottom, x, y + h - bottom.width / 2, x + w, y + h - bottom.width / 2);
    line(left, x + left.width / 2, y, x + left.width / 2, y + h);
    line(right, x + w - right.width / 2, y, x + w - right.width / 2, y + h);
  }

  /** The few patterns that the page draws with gradients: hatched, a dot, half full, a line across. */
  pattern(image, x, y, w, h) {
    if (!image.includes("gradient")) return;
    const found = (image.match(/(?:rgba?|color)\([^()]*\)/g) ?? []).find((colour) => !clear(colour));
    if (!found) return;
    const colour = ink(found);
    if (image.startsWith("repeating")) {
      const id = `h${++this.clips}`;
      const turn = /\(135deg/.test(image) ? -45 : 0;
      this.out.push(`<pattern id="${id}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(${turn})"><rect width="4" height="1.6" fill="${colour}"/></pattern><rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="url(#${id})"/>`);
    } else if (image.startsWith("radial")) {
      this.out.push(`<circle cx="${round(x + w / 2)}" cy="${round(y + h / 2)}" r="1.8" fill="${colour}"/>`);
    } else if (image.includes("50%, ") && image.includes("90deg")) {
      this.out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w / 2)}" height="${round(h)}" fill="${colour}"/>`);
    } else {
      this.out.push(`<path d="M${round(x)} ${round(y)}L${round(x + w)} ${round(y + h)}" stroke="${colour}" stroke-width="2"/>`);
    }
  }

  /** Lines, bars and signs that a style sheet draws beside an element. What flows with the words cannot be measured; it stays away. */
  pseudo(el, which, around) {
    const style = getComputedStyle(el, which);
    if (style.content === "none" || style.content === "normal" || style.display === "none" || style.position !== "absolute") return;
    const [w, h] = [number(style.width), number(style.height)];
    const grow = style.boxSizing === "border-box" ? [0, 0] : [number(style.borderLeftWidth) + number(style.borderRightWidth), number(style.borderTopWidth) + number(style.borderBottomWidth)];
    const [x, y] = [around.x + number(style.left), around.y + number(style.top)];
    this.box(style, { x, y, w: w + grow[0], h: h + grow[1] });
    const sign = style.content.match(/^"(.{1,2})"$/)?.[1].trim();
    if (sign) this.out.push(`<text x="${round(x + w / 2)}" y="${round(y + number(style.lineHeight) / 2 + number(style.fontSize) * 0.35)}" text-anchor="middle" font-family="${escape(style.fontFamily)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" fill="${ink(style.color)}">${escape(sign)}</text>`);
  }

  words(node, style) {
    if (!node.data.trim()) return;
    const range = document.createRange();
    const lines = [];
    for (const match of node.data.matchAll(/\S+/g)) {
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      // A word that breaks has a box on each line: then letter by letter.
      const boxes = range.getClientRects();
      const parts = boxes.length <= 1 ? [[match[0], boxes[0]]] : [...match[0]].map((letter, i) => {
        range.setStart(node, match.index + i);
        range.setEnd(node, match.index + i + 1);
        return [letter, range.getClientRects()[0]];
      });
      parts.forEach(([text, box], i) => {
        if (!box || box.width === 0) return;
        const last = lines.at(-1);
        if (last && Math.abs(last.top - box.top) < 2) {
          last.text += `${i === 0 ? " " : ""}${text}`;
          last.right = box.right;
        } else lines.push({ text, left: box.left, right: box.right, top: box.top, height: box.height });
      });
    }
    this.pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = this.pen.measureText("x");
    for (const line of lines) {
      const x = line.left - this.frame.left;
      const y = line.top - this.frame.top + (line.height - up - down) / 2 + up;
      const said = style.textTransform === "uppercase" ? line.text.toUpperCase() : line.text;
      const struck = style.textDecorationLine.includes("line-through") ? ' text-decoration="line-through"' : "";
      this.out.push(`<text x="${round(x)}" y="${round(y)}" textLength="${round(line.right - line.left)}" lengthAdjust="spacingAndGlyphs" font-family="${escape(style.fontFamily)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" fill="${ink(style.color)}"${struck}>${escape(said)}</text>`);
    }
  }

  canvas(el, { x, y, w, h }) {
    this.out.push(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" href="${el.toDataURL()}"/>`);
  }

  /** A drawing inside the page: copied with the colours it has here; symbols stand where they are used. */
  shape(el, { x, y, w, h }) {
    const copy = this.copied(el);
    for (const [name, value] of Object.entries({ x: round(x), y: round(y), width: round(w), height: round(h), overflow: "visible" })) copy.setAttribute(name, value);
    this.out.push(new XMLSerializer().serializeToString(copy));
  }

  copied(el) {
    const style = getComputedStyle(el);
    const copy = el.cloneNode(false);
    for (const name of ["class", "id", "style", "aria-hidden", "role"]) copy.removeAttribute(name);
    for (const name of SHAPE) {
      const value = style.getPropertyValue(name);
      if (value && !value.startsWith("url")) copy.setAttribute(name, value);
    }
    const used = el instanceof SVGUseElement && document.querySelector(el.getAttribute("href") || "#none");
    if (used) {
      const inner = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      for (const name of ["viewBox"]) if (used.getAttribute(name)) inner.setAttribute(name, used.getAttribute(name));
      for (const name of ["x", "y", "width", "height"]) if (el.getAttribute(name)) inner.setAttribute(name, el.getAttribute(name));
      for (const name of SHAPE) if (copy.getAttribute(name)) inner.setAttribute(name, copy.getAttribute(name));
      inner.innerHTML = used.innerHTML;
      return inner;
    }
    for (const child of el.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE && getComputedStyle(child).display !== "none") copy.append(this.copied(child));
      else if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    }
    return copy;
  }
}

/** An element of the page as the text of an SVG, in the light colours whatever the page has. */
export function svgOf(root, title) {
  const html = document.documentElement;
  const theme = html.dataset.theme;
  // Without it colours would still be on their way from dark to light.
  const still = document.createElement("style");
  still.textContent = "*, *::before, *::after { transition: none !important; animation: none !important; }";
  document.head.append(still);
  html.dataset.theme = "light";
  try {
    const drawing = new Drawing(root);
    const ground = getComputedStyle(html).getPropertyValue("--panel").trim() || "#fff";
    drawing.element(root);
    const [w, h] = [Math.ceil(drawing.frame.width), Math.ceil(drawing.frame.height)];
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w + 24}" height="${h + 24}" viewBox="-12 -12 ${w + 24} ${h + 24}" role="img"><title>${escape(title)}</title><rect x="-12" y="-12" width="${w + 24}" height="${h + 24}" fill="${ground}"/>${drawing.out.join("\n")}</svg>\n`;
  } finally {
    html.dataset.theme = theme;
    still.remove();
  }
}

/** The same as a PNG, twice as fine. */
export async function pngOf(svg) {
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    await picture.decode();
    const canvas = document.createElement("canvas");
    // Larger pictures are not made by every browser.
    const fine = Math.min(2, 8000 / Math.max(picture.width, picture.height));
    [canvas.width, canvas.height] = [picture.width * fine, picture.height * fine];
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((yes, no) => canvas.toBlob((blob) => (blob ? yes(blob) : no(new Error("the picture is too large"))), "image/png"));
  } finally {
    URL.revokeObjectURL(picture.src);
  }
}
