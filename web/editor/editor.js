// The editor behind a few functions: CodeMirror with YAML, marks for problems and notes, and the page's own colours.
// Loaded after the page is alive; until then (and for very long files) a plain textarea does the work.
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers, showTooltip } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { yaml } from "@codemirror/lang-yaml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { tags } from "@lezer/highlight";

const style = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--y-key)" },
  { tag: [tags.string, tags.content, tags.attributeValue], color: "var(--y-str)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--y-num)" },
  { tag: [tags.punctuation, tags.separator, tags.meta, tags.squareBracket, tags.brace], color: "var(--y-punct)" },
  { tag: tags.comment, color: "var(--y-comment)" },
]);

const setMarks = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update(value, tr) {
    value = value.map(tr.changes);
    for (const e of tr.effects) if (e.is(setMarks)) value = Decoration.set(e.value, true);
    return value;
  },
  provide: (f) => EditorView.decorations.from(f),
});

// Esc, then Tab leaves the editor; Tab alone indents.
function leaving() {
  let armed = false;
  return [
    keymap.of([
      { key: "Escape", run: () => { armed = true; return false; } },
      { key: "Tab", run: (view) => (armed ? false : indentMore(view)) },
      { key: "Shift-Tab", run: (view) => (armed ? false : indentLess(view)) },
    ]),
    EditorView.domEventHandlers({
      keydown: (e) => { if (!["Escape", "Tab", "Shift"].includes(e.key)) armed = false; },
      blur: () => { armed = false; },
    }),
  ];
}

// What is known of a field: asked with the pointer over it, or with F1 at the caret; said when the answer comes.
const setHelp = StateEffect.define();
const helpAt = StateField.define({
  create: () => null,
  update(value, tr) {
    for (const e of tr.effects) if (e.is(setHelp)) return e.value;
    return tr.docChanged || tr.selection ? null : value;
  },
  provide: (f) => showTooltip.from(f),
});
function card(lines) {
  const dom = document.createElement("div");
  dom.className = "field-help";
  dom.setAttribute("role", "status");
  lines.forEach((line, i) => {
    const p = document.createElement(i === 0 ? "b" : "p");
    p.textContent = line;
    dom.append(p);
  });
  return dom;
}
function helping(editor, ask) {
  const at = (view, pos) => {
    const line = view.state.doc.lineAt(pos);
    ask(line.number, pos - line.from + 1);
  };
  return [
    helpAt,
    hoverTooltip((view, pos) => {
      editor.waits?.(null);
      at(view, pos);
      return new Promise((tell) => { editor.waits = (lines) => { editor.waits = null; tell(lines && lines.length ? { pos, above: true, create: () => ({ dom: card(lines) }) } : null); }; });
    }, { hoverTime: 450 }),
    keymap.of([
      { key: "F1", preventDefault: true, run: (view) => { editor.waits?.(null); editor.caretHelp = view.state.selection.main.head; at(view, editor.caretHelp); return true; } },
      { key: "Escape", run: (view) => { if (!view.state.field(helpAt)) return false; view.dispatch({ effects: setHelp.of(null) }); return true; } },
    ]),
  ];
}

// What the editor itself says, above all in its search: here, where it is fetched with it.
const german = {
  "Find": "Suchen", "Replace": "Ersetzen", "next": "nächste", "previous": "vorige", "all": "alle", "match case": "Groß/klein", "regexp": "Regex", "by word": "ganzes Wort",
  "replace": "ersetzen", "replace all": "alle ersetzen", "close": "schließen", "current match": "gefunden", "on line": "in Zeile", "replaced $ matches": "$ Stellen ersetzt",
  "replaced match on line $": "Stelle in Zeile $ ersetzt",
};

// Very long text that comes as one piece of typing (an input method, a script) is put in as a change of the document:
// the browser would first build all of it as elements.
const long = EditorView.domEventHandlers({
  beforeinput(e, view) {
    if (e.inputType !== "insertText" || !e.data || e.data.length < 4000) return false;
    e.preventDefault();
    const all = document.getSelection().containsNode(view.contentDOM.firstChild, true) && document.getSelection().containsNode(view.contentDOM.lastChild, true);
    const range = all ? { from: 0, to: view.state.doc.length } : view.state.selection.main;
    view.dispatch({ changes: { from: range.from, to: range.to, insert: e.data }, selection: { anchor: range.from + e.data.length } });
    return true;
  },
});

// change(text), apply(), ask(line, column): what the page is told. Each file has a state of its own: caret, place and what can be undone.
export function create(parent, key, text, label, change, apply, ask) {
  const editor = { key, quiet: false, states: new Map(), fresh: (doc) => EditorState.create({ doc, extensions }) };
  const extensions = [
    lineNumbers(), history(), drawSelection(), indentOnInput(), indentUnit.of("  "), bracketMatching(), closeBrackets(),
    highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), syntaxHighlighting(style), yaml(), lintGutter(), marks,
    keymap.of([{ key: "Mod-Enter", run: () => { apply(); return true; } }]),
    helping(editor, ask), leaving(), long,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    EditorState.phrases.of(document.documentElement.lang === "de" ? german : {}),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0", autocapitalize: "off" }),
    EditorView.updateListener.of((u) => { if (u.docChanged && !editor.quiet) change(u.state.doc.toString()); }),
  ];
  editor.view = new EditorView({ parent, state: editor.fresh(text) });
  return editor;
}

function silently(editor, work) {
  editor.quiet = true;
  try { work(); } finally { editor.quiet = false; }
}

// Another file, or the same file changed from outside: only what differs is replaced, so the caret stays where it can.
export function show(editor, key, text) {
  const { view } = editor;
  if (editor.key !== key) {
    editor.states.set(editor.key, { state: view.state, top: view.scrollDOM.scrollTop });
    const kept = editor.states.get(key);
    editor.key = key;
    silently(editor, () => view.setState(kept ? kept.state : editor.fresh(text)));
    view.requestMeasure({ read() {}, write() { view.scrollDOM.scrollTop = kept ? kept.top : 0; } });
  }
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  let end = Math.min(old.length, text.length);
  while (from < end && old[from] === text[from]) from++;
  end -= from;
  let same = 0;
  while (same < end && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
  silently(editor, () => view.dispatch({ changes: { from, to: old.length - same, insert: text.slice(from, text.length - same) } }));
}

// Takes over from the plain field: its selection, its place and, if it had it, the focus.
export function adopt(editor, from, to, top, focus) {
  const { view } = editor;
  const most = view.state.doc.length;
  view.dispatch({ selection: { anchor: Math.min(from, most), head: Math.min(to, most) } });
  if (focus) view.focus();
  view.requestMeasure({ read() {}, write() { view.scrollDOM.scrollTop = top; } });
}

// Where the caret is: [from, to], for the plain field when a text has become too long for the editor.
export function caret(editor) {
  const { anchor, head } = editor.view.state.selection.main;
  return [Math.min(anchor, head), Math.max(anchor, head)];
}

function range(doc, m) {
  const line = doc.line(Math.max(1, Math.min(m.line, doc.lines)));
  const from = Math.min(line.from + Math.max(0, m.column - 1), line.to);
  const word = m.length || (/^[^\s,\]}]+/.exec(line.text.slice(from - line.from)) || [""])[0].length;
  return { from, to: Math.min(from + word, line.to), line };
}

// list: [[line, column, length, "error" | "warning" | "note", message]]; notes show only when `teacher` is on.
export function mark(editor, list, teacher) {
  const { view } = editor;
  const places = list.map(([line, column, length, kind, message]) => ({ kind, message, ...range(view.state.doc, { line, column, length }) }));
  const shown = places.filter((m) => m.kind !== "note" || teacher);
  view.dispatch(setDiagnostics(view.state, shown.filter((m) => m.kind !== "note").map((m) => ({ from: m.from, to: m.to, severity: m.kind, message: m.message }))));
  const lines = new Map();
  for (const m of shown) if (m.kind === "note") lines.set(m.line.from, Decoration.line({ class: "ln-cause" }).range(m.line.from));
  const words = shown.filter((m) => m.kind === "note" && m.to > m.from).map((m) => Decoration.mark({ class: "mark" }).range(m.from, m.to));
  view.dispatch({ effects: setMarks.of([...lines.values(), ...words].sort((a, b) => a.from - b.from || a.value.startSide - b.value.startSide)) });
}

// Puts the caret at a place and shows it; takes the focus only when asked to.
export function go(editor, line, column, focus) {
  const { view } = editor;
  const at = range(view.state.doc, { line, column, length: 0 }).from;
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  if (focus) view.focus();
}

// The answer to ask(): lines, the first is the field's name; none where there is no field.
export function help(editor, lines) {
  if (editor.waits) return editor.waits(lines);
  const pos = editor.caretHelp;
  editor.caretHelp = undefined;
  if (pos === undefined || !lines.length || pos > editor.view.state.doc.length) return;
  editor.view.dispatch({ effects: setHelp.of({ pos, above: true, create: () => ({ dom: card(lines) }) }) });
}

export function focus(editor) { editor.view.focus(); }
export function destroy(editor) { editor.view.destroy(); }
