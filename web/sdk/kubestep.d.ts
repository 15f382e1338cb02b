// Types of kubestep.js, beside it on the site. What each thing is: docs/EMBEDDING.md.

/** The parts that a figure can show. */
export type Part = "board" | "why" | "loops" | "steps" | "editor" | "terminal" | "verdict" | "timeline" | "lesson" | "registry";

/** A lesson that the site does not hold: its Markdown, and its translations by language. */
export interface Draft {
  draft: string;
  translations?: Record<string, string>;
}

/**
 * What a figure begins with. A plain string is taken for a link, the id of a lesson, the address of one (it ends in `.md`), or else for a manifest.
 * `lesson` is the id of a lesson of the site, or the address of a Markdown file; beside that its translation (`name.de.md`) is looked for.
 */
export type Source = string | { yaml: string } | { lesson: string } | { link: string } | { scenario: string } | Draft;

export interface FigureOptions {
  source?: Source;
  /** The parts, in any order. If not said: board, verdict, steps, timeline; for a lesson its text, too. */
  show?: Part[] | string;
  /** `"full"` (or `true`), `"few"` (as usual: Back, Step, +1 min, Play), `"none"` (or `false`). */
  controls?: "full" | "few" | "none" | boolean;
  /** The reader moves in time and changes nothing. */
  readonly?: boolean;
  /** When it is fetched: on a click, when it comes into sight (as usual), at once. */
  loading?: "click" | "lazy" | "eager";
  theme?: "light" | "dark" | "auto";
  /** `"en"`, `"de"`. If not said: that of the page around (its next `lang`), English for one that is not known; without any, the browser's. */
  lang?: string;
  /** The step to show first; `"calm"` runs until calm. */
  step?: number | string;
  /** The height that is kept for it: pixels, or a length of CSS. If not said: 420, in narrow places 520. */
  height?: number | string;
  /** A picture to show before it is fetched. */
  poster?: string;
  /** What it shows, in a few words; for screen readers, too. */
  title?: string;
  /** `false`: only what Kubernetes says. */
  teacher?: boolean;
  /** Where the site is, if it is not where this script is. */
  site?: string;
}

export interface Verdict {
  kind: "converged" | "converging" | "stalled";
  /** Virtual milliseconds. */
  since: number | null;
  opened: number | null;
  because: string;
  measure: string;
  said: string;
}

export interface Answer {
  line: string;
  output: string;
  /** `null` while the command waits in virtual time. */
  exit: number | null;
}

export interface Goal {
  text: string;
  state: "open" | "holding" | "done" | "broken";
}

export interface LessonState {
  id: string;
  /** When it was solved, in virtual milliseconds. */
  solved: number | null;
  goals: Goal[];
  predictions: { ask: string; grade: "open" | "skipped" | "right" | "close" | "wrong" }[];
  /** The prediction that waits for an answer. */
  asks: number | null;
  hints: number;
  hintsThere: number;
  moreHints: boolean;
  /** Steps of the solution that were shown. */
  shown: number;
  solution: number;
  acts: number;
  trapped: string;
}

export interface FigureState {
  ready: boolean;
  busy: boolean;
  playing: boolean;
  title: string;
  scenario: string;
  /** Why it cannot start, a link cannot be opened, or kubectl's words about a manifest that was not taken; else empty. */
  error: string;
  /**
   * How the last act or run came to its end. `run()` ends `"calm"` or after an `"hour"`; `run(question)` when it is `"true"`, after an `"hour"` of the
   * cluster's time, 10,000 `"steps"`, or when nothing is left that could move (`"quiet"`).
   */
  ended: "" | "finished" | "calm" | "true" | "hour" | "steps" | "quiet" | "interrupted" | "waits" | "refused";
  /** Why it was refused. */
  refused: string;
  step: number;
  last: number;
  branch: number;
  /** The clock, in virtual milliseconds. */
  now: number;
  /** What the page's clock counts from. */
  start: number;
  sentence: string;
  verdict: Verdict;
  apply?: Answer;
  kubectl?: Answer;
  lesson?: LessonState;
  files: { name: string; text: string }[];
}

export interface Link {
  url: string;
  /** What stands behind `#`. */
  fragment: string;
  /** Of the world at that moment. */
  hash: string;
  step: number;
}

export interface FigureEvents {
  ready: FigureState;
  step: { step: number; last: number; now: number; sentence: string };
  verdict: Verdict;
  goal: Goal & { index: number };
  completed: { lesson: string; at: number; shown: boolean };
  error: { message: string };
}

/**
 * Every promise is rejected where the figure cannot start: `error` says so first, the box shows why, and other figures go on.
 */
export interface Figure {
  /** The element that holds it. */
  readonly element: HTMLElement;
  /**
   * Until calm, or until a question is true: `pods -l app=web ready == 3`. One that is not understood is rejected; `ended` of the state says whether it
   * came true (`"true"`) or an hour of the cluster's time had passed (`"hour"`).
   */
  run(question?: string): Promise<FigureState>;
  step(): Promise<FigureState>;
  back(): Promise<FigureState>;
  forward(): Promise<FigureState>;
  /** Shows a step, by its number from 0 on; one that is still to come is played to. */
  seek(step: number): Promise<FigureState>;
  /** So many milliseconds of the cluster's time. */
  advance(millis: number): Promise<FigureState>;
  play(): Promise<FigureState>;
  pause(): Promise<FigureState>;
  apply(yaml: string): Promise<Answer | null>;
  kubectl(line: string): Promise<Answer | null>;
  getState(): Promise<FigureState>;
  getLink(): Promise<Link>;
  /** Answers a prediction of a lesson; `null` skips it. */
  predict(index: number, answer: string | null): Promise<FigureState>;
  hint(): Promise<FigureState>;
  /** The next step of the solution. */
  showMe(): Promise<FigureState>;
  /** Opens another link's fragment in this figure: `1…`, `scenario=P05`. One that cannot be opened is rejected; what was shown stays. */
  open(fragment: string): Promise<FigureState>;
  setTheme(theme: "light" | "dark" | "auto"): Promise<unknown>;
  setTeacher(on: boolean): Promise<FigureState>;
  /** Gives a function that takes the listener away. */
  on<E extends keyof FigureEvents>(event: E, listener: (detail: FigureEvents[E]) => void): () => void;
  destroy(): void;
}

export const PROTOCOL: 1;
export function createFigure(element: Element, options?: FigureOptions): Figure;
/** The address of a figure, for an `<iframe>` of your own. `host` is the origin of the page around, if that is to speak with it. */
export function figureAddress(options?: FigureOptions, site?: string, host?: string): string;

export class KubestepFigure extends HTMLElement {
  readonly figure: Figure | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "kubestep-figure": KubestepFigure;
  }
}
