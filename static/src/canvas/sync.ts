// Keeps the draft of this tab and that of the server the same. Edits are
// visible at once and are sent as operations, one request at a time; what
// others did comes back with the answer. Nothing is lost while the network is
// away: the queue outlives the page.
import { apply, empty, follow, inverse } from "./ops";
import { ulid } from "./ids";
import { Act, Body, Data, Delta, Entry, Info, Op, Problem, Refusal, Saved } from "./types";

export type SaveState = "saved" | "saving" | "offline" | "stuck";

export interface Watcher {
  changed(moved: boolean): void; // the body is another one
  refused(refusal: Refusal): void;
  saving(state: SaveState, open: number, why?: string): void;
  problems(list: Problem[]): void;
}

// Wire sends a request and answers with its status; status 0 is no answer.
export type Wire = (method: "GET" | "PATCH", path: string, body?: unknown) => Promise<{ status: number; json: unknown }>;

export interface Shelf {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

const deepest = 200; // acts to undo
const commandLine = "command line"; // the client of what is done in a terminal (engine/draft)
const firstWait = 1500;
const longestWait = 30_000;

export class Sync {
  body: Body;
  readonly infos: Record<string, Info>;
  readonly client = ulid();
  private acked: Body;
  private seq: number;
  private pending: Op[] = [];
  private undoable: Act[];
  private redoable: Act[];
  private sending: Promise<void> | undefined;
  private pulls = false;
  private wait = firstWait;
  private retry: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private data: Data,
    private watcher: Watcher,
    private wire: Wire,
    private shelf: Shelf,
  ) {
    this.acked = this.body = data.body ?? {};
    this.infos = data.infos;
    this.seq = data.seq;
    this.undoable = data.history?.undo ?? [];
    this.redoable = data.history?.redo ?? [];
  }

  // start takes up what an earlier page could not send.
  start(): void {
    const kept = this.shelf.getItem(this.place());
    if (!kept) return this.tell();
    const { ops, infos } = JSON.parse(kept) as { ops: Op[]; infos: Record<string, Info> };
    for (const [card, info] of Object.entries(infos)) this.infos[card] ??= info;
    this.pending = ops;
    this.rebuild();
    void this.save();
  }

  get open(): number {
    return this.pending.length;
  }
  // known is the change up to which the body is what the server has; with what is
  // still on its way it is ahead of every change.
  get known(): number {
    return this.pending.length > 0 ? Infinity : this.seq;
  }
  get canUndo(): boolean {
    return this.undoable.length > 0;
  }
  get canRedo(): boolean {
    return this.redoable.length > 0;
  }

  // act does operations as one act of the person. It throws a Refusal, and then
  // nothing was done.
  act(ops: Omit<Op, "id">[]): void {
    const act = this.enqueue(ops);
    if (!act) return;
    this.done(act);
    this.tell();
  }

  // done makes an act the next one to undo.
  private done(act: Act): void {
    this.undoable.push(act);
    this.redoable = [];
    if (this.undoable.length > deepest) this.undoable.shift();
  }

  // enqueue applies operations here and lines them up for the server. It
  // answers nothing where they change nothing.
  private enqueue(ops: Omit<Op, "id">[], of?: "undo" | "redo"): Act | undefined {
    const act: Act = { id: ulid(), deltas: [] };
    const made: Op[] = [];
    let body = this.body;
    for (const op of ops) {
      const whole: Op = { ...op, id: ulid(), act: act.id, of };
      const result = apply(body, whole, this.infos);
      body = result.body;
      if (!empty(result.delta)) act.deltas.push(result.delta);
      // What tidying changes, only the server knows.
      if (!empty(result.delta) || op.op === "tidy") made.push(whole);
    }
    if (made.length === 0) return undefined;
    this.body = body;
    this.pending.push(...made);
    this.keep();
    this.watcher.changed(false);
    void this.save();
    return act;
  }

  // rename tells the name that a job or crawler has got. An answer that is on
  // its way may still say the old one, so the server is asked once more.
  rename(card: string, name: string): void {
    const info = this.infos[card];
    if (info) this.infos[card] = { ...info, name };
    this.watcher.changed(false);
    this.look();
  }

  // look asks what is wrong with the draft, and what its cards say: that changes with the
  // drafts of jobs and crawlers, too, which have no operations.
  look(): void {
    this.pulls = true;
    void this.save();
  }

  undo(): void {
    this.turn(this.undoable, this.redoable, "undo");
  }
  redo(): void {
    this.turn(this.redoable, this.undoable, "redo");
  }

  private turn(from: Act[], to: Act[], of: "undo" | "redo"): void {
    const act = from.pop();
    if (!act) return;
    try {
      const ops = [...act.deltas].reverse().map((delta) => ({ op: "restore", delta: inverse(delta) }));
      const done = this.enqueue(ops, of);
      if (done) to.push(done);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.watcher.refused(new Refusal(error.code, `Can't ${of}: ${error.message}`, error.path));
    }
    this.tell();
  }

  // save sends what is open; what is done meanwhile goes with the next request.
  save(): Promise<void> {
    this.sending ??= this.send().finally(() => (this.sending = undefined));
    return this.sending;
  }

  private async send(): Promise<void> {
    clearTimeout(this.retry);
    while (this.pending.length > 0 || this.pulls) {
      this.pulls = false;
      this.watcher.saving("saving", this.pending.length);
      const sent = [...this.pending];
      const answer = sent.length > 0 ? await this.patch(sent) : await this.wire("GET", `${this.path()}?since=${this.seq}`);
      if (!this.take(answer, sent)) return;
    }
    this.tell();
  }

  // settled waits until what was done so far has been sent, or cannot be.
  async settled(): Promise<void> {
    while (this.sending) await this.sending;
  }

  // pull asks for what others did.
  pull(seq: number): void {
    if (seq <= this.seq) return;
    this.pulls = true;
    void this.save();
  }

  private patch(ops: Op[]) {
    return this.wire("PATCH", this.path(), { base: this.seq, client: this.client, ops });
  }

  // take reads an answer and says whether to go on.
  private take(answer: { status: number; json: unknown }, sent: Op[]): boolean {
    const { status, json } = answer;
    if (status === 200) {
      this.wait = firstWait;
      this.advance(json as Saved, sent);
      return true;
    }
    if (status === 409 || status === 422) {
      this.drop(json as { op?: string; code: string; message: string; path?: string[] }, sent);
      return true;
    }
    if (status === 0 || status >= 500 || status === 429) {
      this.watcher.saving("offline", this.pending.length);
      this.retry = setTimeout(() => void this.save(), this.wait);
      this.wait = Math.min(this.wait * 2, longestWait);
      return false;
    }
    const why = (json as { message?: string } | undefined)?.message ?? "The server did not accept the change.";
    this.watcher.saving("stuck", this.pending.length, why);
    return false;
  }

  private advance(saved: Saved, sent: Op[]): void {
    Object.assign(this.infos, saved.infos);
    if (saved.body) this.acked = saved.body;
    for (const entry of saved.entries ?? []) {
      if (entry.seq <= this.seq) continue;
      this.acked = follow(this.acked, entry.delta);
      if (entry.client === commandLine) this.undoable = this.redoable = []; // published there, and not to be undone here
      if (entry.client === this.client) this.learn(entry, saved.entries!.filter((e) => e.act === entry.act).length);
    }
    this.seq = saved.seq;
    const done = new Set(sent.map((op) => op.id));
    this.pending = this.pending.filter((op) => !done.has(op.id));
    this.rebuild();
    this.keep();
    this.watcher.problems(saved.problems ?? []);
  }

  // learn replaces what this tab thought an act changed by what it did change.
  // An act that it does not know is one of its panel's form.
  private learned = new Map<string, Delta[]>();
  private learn({ act, delta, of }: Entry, whole: number): void {
    const deltas = [...(this.learned.get(act) ?? []), delta];
    this.learned.set(act, deltas);
    if (deltas.length < whole) return;
    this.learned.delete(act);
    const known = [...this.undoable, ...this.redoable].find((a) => a.id === act);
    if (known) known.deltas = deltas;
    else if (!of) this.done({ id: act, deltas });
  }

  // drop takes back the act that the server refused, whole.
  private drop(refusal: { op?: string; code: string; message: string; path?: string[] }, sent: Op[]): void {
    const bad = sent.find((op) => op.id === refusal.op) ?? sent[0];
    this.pending = this.pending.filter((op) => op.act !== bad?.act);
    this.undoable = this.undoable.filter((a) => a.id !== bad?.act);
    this.redoable = this.redoable.filter((a) => a.id !== bad?.act);
    this.rebuild();
    this.keep();
    this.pulls = true;
    this.watcher.refused(new Refusal(refusal.code, refusal.message, refusal.path));
  }

  // rebuild puts what is open on top of what the server has.
  private rebuild(): void {
    let body = this.acked;
    this.pending = this.pending.filter((op) => {
      try {
        body = apply(body, op, this.infos).body;
        return true;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        // "same": another person did it first, and all is well.
        if (error.code !== "same") this.watcher.refused(error);
        return false;
      }
    });
    this.body = body;
    this.watcher.changed(true);
  }

  private keep(): void {
    if (this.pending.length === 0) return this.shelf.removeItem(this.place());
    try {
      this.shelf.setItem(this.place(), JSON.stringify({ ops: this.pending, infos: this.infos }));
    } catch {
      // The browser's store is full or off: the queue lives in this page alone.
    }
  }

  private tell(): void {
    this.watcher.saving(this.pending.length > 0 ? "saving" : "saved", this.pending.length);
  }
  private place = () => `dogear:draft:${this.data.workflow}`;
  private path = () => `/api/ui/workflows/${this.data.workflow}/draft`;
}
