// The words of a workflow as the server writes them (engine/workflow.go).
export interface Point {
  x: number;
  y: number;
}
export type Kind = "job" | "crawler";
export interface Ref {
  kind: Kind;
  id: string;
}
export type Logic = "all" | "any";
export interface Condition {
  ref: Ref;
  state: string;
}
export interface Action {
  ref: Ref;
  arguments?: Record<string, string>;
  timeout?: number; // min; absent: the job's own
  retries?: number; // absent: the job's own
}
export interface Trigger {
  id: string;
  name: string;
  type: "on_demand" | "scheduled" | "event" | "conditional";
  disabled?: boolean;
  schedule?: string;
  zone?: string;
  event?: { source?: string; size?: number }; // the rest is the server's
  predicate?: { logic?: Logic; conditions?: Condition[] };
  actions?: Action[];
}
export interface Body {
  description?: string;
  triggers?: Trigger[];
  layout?: Record<string, Point>;
  cards?: Ref[];
  properties?: Record<string, string>;
  max_runs?: number;
  timeout?: number; // of a run, min
}

// One operation on a draft, and the change that one made (engine/draft).
export interface Op {
  id: string;
  act?: string;
  op: string;
  card?: string;
  to?: string;
  at?: Point;
  move?: Record<string, Point>;
  cards?: string[];
  trigger?: string;
  join?: boolean;
  logic?: Logic;
  name?: string;
  new?: Trigger;
  patch?: Fields;
  prev?: Fields;
  delta?: Delta;
  of?: "undo" | "redo";
}
export interface Fields {
  name?: string;
  schedule?: string;
  zone?: string;
  disabled?: boolean;
  logic?: Logic;
  state?: string;
  arguments?: Record<string, string>;
  limits?: { timeout?: number; retries?: number };
}
export interface Pair<T> {
  from?: T;
  to?: T;
}
export interface Delta {
  triggers?: { id: string; index: number; from?: Trigger; to?: Trigger }[];
  cards?: { ref: Ref; index: number; in: boolean }[];
  layout?: Record<string, Pair<Point>>;
  properties?: Record<string, Pair<string>>;
  on?: Ref[];
  off?: Ref[];
  about?: Pair<string>;
  max_runs?: Pair<number>;
  timeout?: Pair<number>;
}
export interface Entry {
  seq: number;
  op: string;
  act: string;
  kind: string;
  of?: string;
  by: string;
  client: string;
  delta: Delta;
}
export interface Act {
  id: string;
  deltas: Delta[];
}
export interface Info {
  name: string;
  sub: string;
  note?: string;
  fact?: string;
  icon: string;
  fires?: number; // of a trigger: the published version in which it is turned on
}
export interface Problem {
  card?: string;
  message: string;
  soft?: boolean;
  fails?: boolean; // soft, and the next run would fail of it
}
export interface Saved {
  seq: number;
  entries?: Entry[] | null;
  body?: Body;
  infos?: Record<string, Info>;
  problems?: Problem[] | null;
}

// Sign is how a state looks.
export interface Sign {
  icon: string;
  word: string;
  hue: string;
}

// What the page tells the canvas (views/canvas).
export interface Data {
  mode: "edit" | "run" | "look";
  workflow: string;
  run?: string;
  seq: number;
  base: string;
  panel: string;
  body?: Body;
  infos: Record<string, Info>;
  history?: { undo: Act[]; redo: Act[] };
  signs?: Record<string, Sign>;
  words: Record<string, string>;
  toSkip?: Sign; // of a node of a run that waits, and is skipped when its turn comes
  byHand?: Sign & { card: string }; // the trigger whose run a person has started instead of it
  packed?: { cards: PackedCard[]; edges: PackedEdge[] };
}

// A card and a line of a graph that the browser draws (views/canvas/packed.go).
export interface PackedCard {
  key: string;
  kind: string;
  shape?: "start" | "gate"; // absent: node
  name: string;
  icon: string;
  at: [number, number];
  state: string;
  sub?: string; // absent: the word of the state
  started?: string;
  ended?: string;
  note?: string;
  fact?: string;
  before?: number;
  after?: number;
  off?: boolean;
  said?: string; // the word of its sign, where that is not the one of its state
  mark?: string; // the icon of that sign
  kept?: boolean;
}
export interface PackedEdge {
  from: number; // of the cards
  to: number;
  key?: string; // absent: what the line joins
  trigger?: string;
  state?: string;
  word?: string;
  title?: string;
  taken?: boolean;
  back?: boolean;
}

// Refusal says why an operation cannot be done. Path names the cards that light up.
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly path: string[] = [],
  ) {
    super(message);
  }
}
