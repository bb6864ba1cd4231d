// What a person does to the graph: each edit is one act of the draft, is told to
// screen readers, and says why where it is refused.
import { clip, Clip, cut, Draft, heal, insert, paste, readClip, remove } from "./acts";
import { Camera } from "./camera";
import { freeSpot, grid, size, snap } from "./geometry";
import { ulid } from "./ids";
import { room } from "./insert";
import { Choice, Search, Spot } from "./menu";
import { Edge, Graph, impossible, Names, parse, refuse, switched } from "./model";
import { Block, blocks, found, partial } from "./palette";
import { rename } from "./rename";
import { Sync } from "./sync";
import { Info, Point, Refusal, Trigger } from "./types";
import { View } from "./view";
import { wire } from "./wire";

// Bench is the canvas as an edit needs it.
export interface Bench {
  readonly view: View;
  readonly camera: Camera;
  readonly selection: Set<string>;
  readonly built: Set<string>; // conditions that stay cards while they are built
  readonly focused: string | undefined;
  readonly graph: Graph;
  readonly words: Record<string, string>; // of the states of conditions
  readonly workflow: string;
  select(cards: Iterable<string>): void;
  focusCard(card: string | undefined): void;
  details(card: string): void;
  renamed(card: string, name: string): void; // wherever the name stands beside the card
  choose(at: Spot, label: string, choices: Choice[], search?: Search): void;
  refused(refusal: Refusal, passing?: boolean): void;
  say(text: string): void;
}

const onEdge = 24; // screen pixels from an edge within which a card is put on it
const silent = "The server did not answer, and a new job is made there. Try again in a moment.";

export class Edits {
  private copied: Clip | undefined; // what was copied last, for the menu

  constructor(
    private bench: Bench,
    private sync: Sync,
  ) {}

  // act does operations as one act and shows a refusal.
  act(...ops: Draft[]): boolean {
    try {
      this.sync.act(ops);
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.bench.refused(error);
      return false;
    }
  }

  private names(): Names {
    return new Names(this.bench.graph, this.sync.infos);
  }
  nameOf(card: string): string {
    return this.names().of(card);
  }

  // chosen are the selected cards, or the one with the focus.
  private chosen(): Set<string> {
    const { selection, focused } = this.bench;
    return selection.size > 0 ? new Set(selection) : new Set(focused ? [focused] : []);
  }

  move(places: Record<string, Point>): void {
    this.act({ op: "move", move: places });
  }

  // Edges.

  impossible(from: string): Set<string> {
    return impossible(this.bench.graph, from);
  }

  // complain lights the way that an edge would close, and says so.
  complain(from: string, to: string): void {
    const refusal = refuse(this.bench.graph, this.names(), from, to);
    if (refusal && refusal.code !== "same") this.bench.refused(refusal, true);
  }

  connect(from: string, to: string): void {
    const { graph, view } = this.bench;
    const refusal = refuse(graph, this.names(), from, to);
    if (refusal) return this.bench.refused(refusal);
    const done = () => this.bench.say(`Connected ${this.nameOf(from)} to ${this.nameOf(to)}`);
    if (graph.triggers.has(from) || graph.triggers.has(to)) {
      if (this.act({ op: "connect", card: from, to })) done();
      return;
    }
    const { gate, ask } = graph.suggest(to);
    if (!ask) {
      if (this.act({ op: "connect", card: from, to, trigger: gate ?? ulid(), join: gate !== undefined })) done();
      return;
    }
    const target = view.boxes.get(to)!;
    const joined = (logic: "all" | "any") => () => {
      const spot = { x: target.x - 190, y: target.y + 10, ...size("gate") };
      const at = view.boxes.has(ask) ? undefined : freeSpot({ ...spot, ...snap(spot) }, [...view.boxes.values()]);
      if (this.act({ op: "connect", card: from, to, trigger: ask, join: true, logic, at })) done();
    };
    const card = view.cards.get(to)!.getBoundingClientRect();
    this.bench.choose({ clientX: card.left, clientY: card.bottom + 6 }, `When does ${this.nameOf(to)} start?`, [
      { label: "When all have succeeded", act: joined("all") },
      { label: "When any has succeeded", act: joined("any") },
    ]);
  }

  cut(edge: Edge): void {
    if (this.act(cut(edge))) this.bench.say("Cut");
  }

  // edge offers the conditions of an edge and what else is done to it.
  edge(edge: Edge, at: Spot): void {
    const { graph, words } = this.bench;
    const trigger = edge.trigger ?? edge.to;
    const choices: Choice[] = [];
    if (edge.state) {
      for (const [state, word] of Object.entries(words)) {
        const set = () => this.act({ op: "set_condition", card: trigger, to: edge.from, patch: { state }, prev: { state: edge.state } });
        choices.push({ label: word, current: state === edge.state, act: () => void set() });
      }
    }
    choices.push({ label: "Insert a job or crawler…", icon: "plus", act: () => this.offer(at, "Insert", insertable, (block) => void this.put(block, { onto: edge })) });
    if (edge.trigger) choices.push({ label: "Details…", icon: "sliders-horizontal", act: () => this.bench.details(trigger) });
    choices.push({ label: "Cut", icon: "unlink", keys: "X", act: () => this.cut(edge) });
    const ends = edge.trigger ? graph.after(edge.trigger) : [edge.to];
    this.bench.choose(at, `${this.nameOf(edge.from)} → ${ends.map((card) => this.nameOf(card)).join(", ")}`, choices);
  }

  // Cards.

  remove(): void {
    const cards = this.chosen();
    this.gone(cards, [...cards].map((card) => remove(this.bench.graph, card)), "Removed");
  }

  heal(): void {
    const cards = this.chosen();
    this.gone(cards, heal(this.sync.body, cards, this.sync.infos), "Removed and reconnected around");
  }

  private gone(cards: Set<string>, ops: Draft[], verb: string): void {
    if (cards.size === 0) return;
    const names = cards.size === 1 ? this.nameOf([...cards][0]!) : `${cards.size} cards`;
    if (this.act(...ops)) this.bench.say(`${verb} ${names}. Ctrl+Z brings it back.`);
  }

  disable(card: string): void {
    const t = this.bench.graph.triggers.get(card);
    if (t && switched(t)) this.act({ op: "set_trigger", card, patch: { disabled: !t.disabled }, prev: { disabled: !!t.disabled } });
  }

  // rename changes the name on a card in place: that of a trigger in the draft,
  // that of a job or crawler wherever it is used.
  rename(card: string): void {
    const element = this.bench.view.cards.get(card);
    if (!element) return;
    const t = this.bench.graph.triggers.get(card);
    rename(element, this.nameOf(card), async (name) => {
      if (t) {
        if (this.act({ op: "set_trigger", card, patch: { name }, prev: { name: t.name } })) this.bench.renamed(card, name);
        return;
      }
      const answer = await wire("POST", `/api/ui/workflows/${this.bench.workflow}/names/${card}`, { name });
      if (answer.status !== 200) {
        const { message } = (answer.json ?? {}) as { message?: string };
        return this.bench.refused(new Refusal("rule", message ?? "The server did not answer, and it keeps the names. Try again in a moment."));
      }
      const { name: kept } = answer.json as { name: string };
      this.sync.rename(card, kept);
      this.bench.renamed(card, kept);
      this.bench.say(`Renamed to ${name}`);
    });
  }

  // Copies.

  copy(): string | undefined {
    const cards = this.chosen();
    if (cards.size === 0) return undefined;
    this.copied = clip(this.sync.body, cards, this.bench.view.boxes, (card) => this.nameOf(card));
    this.bench.say(cards.size === 1 ? "Copied" : `Copied ${cards.size} cards`);
    return JSON.stringify(this.copied);
  }

  get canPaste(): boolean {
    return this.copied !== undefined;
  }

  pasteText(text: string): boolean {
    const given = readClip(text);
    if (given) void this.paste(given);
    return given !== undefined;
  }

  pasteCopied(): void {
    if (this.copied) void this.paste(this.copied);
  }

  duplicate(): void {
    const cards = this.chosen();
    if (cards.size > 0) void this.paste(clip(this.sync.body, cards, this.bench.view.boxes, (card) => this.nameOf(card)));
  }

  // paste puts the cards of a clip on the canvas: a job or crawler that is not
  // on it yet as itself, one that is there as a copy.
  private async paste(given: Clip): Promise<void> {
    const known = new Map(blocks(document.querySelector(".palette"), true).map((b) => [b.card, b.info]));
    for (const { card } of given.cards) {
      const id = parse(card)?.id;
      if (!id || known.has(card) || this.sync.infos[card]) continue;
      for (const block of await found(this.bench.workflow, id, true)) known.set(block.card, block.info);
    }
    const cards = new Map<string, string>();
    const lost: string[] = [];
    for (const { card, name } of given.cards) {
      const info = this.sync.infos[card] ?? known.get(card);
      const ref = parse(card);
      if (!info || !ref) {
        lost.push(name);
      } else if (!this.bench.graph.has(card)) {
        this.sync.infos[card] = info;
        cards.set(card, card);
      } else {
        const made = await this.ask({ kind: ref.kind, of: ref.id });
        if (!made) return;
        cards.set(card, made);
      }
    }
    const { ops, made } = paste(given, this.bench.graph, cards, this.away(given));
    if (ops.length > 0 && this.act(...ops)) {
      this.bench.select(made);
      this.bench.focusCard(made[0]);
      this.bench.say(`Added ${made.length === 1 ? this.nameOf(made[0]!) : `${made.length} cards`}`);
    }
    if (lost.length > 0) this.bench.refused(new Refusal("gone", `Left out, because this server has no such job or crawler: ${lost.join(", ")}.`));
  }

  // away is how far a paste is moved so that it covers nothing exactly.
  private away(given: Clip): Point {
    const taken = new Set([...this.bench.view.boxes.values()].map((b) => `${b.x} ${b.y}`));
    const places = [...given.cards.map((c) => c.at), ...given.triggers.flatMap((t) => t.at ?? [])];
    let by = 20;
    while (places.some((p) => taken.has(`${p.x + by} ${p.y + by}`))) by += 20;
    return { x: by, y: by };
  }

  // New cards.

  // put places a block of the palette: where it was dropped, on an edge, after
  // the card that is selected, or in the middle of the view. What it is put after
  // is connected to it where an edge may lead there.
  async put(block: Block, where: { at?: Spot; after?: string; onto?: Edge } = {}): Promise<void> {
    const { view, camera, selection } = this.bench;
    const node = insertable(block);
    const anchor = where.after ?? (where.at || where.onto ? undefined : [...selection][0]);
    const after = where.after ?? (selection.size === 1 && !begins(block) ? anchor : undefined);
    const { w, h } = size(node ? "node" : "small");
    const at = where.at && camera.toWorld(camera.at(where.at));
    const onto = where.onto ?? (at && node ? view.edgeNear(at, onEdge / camera.k) : undefined);
    const beside = view.boxes.get(anchor ?? "");
    const middle = at ?? camera.toWorld(camera.middle());
    const wanted = at || !beside ? { x: middle.x - w / 2, y: middle.y - h / 2 } : { x: beside.x + beside.w + 130, y: beside.y };
    const spot = snap(freeSpot({ ...snap(wanted), w, h }, [...view.boxes.values()], at ? 0 : 2 * grid));
    const made = await this.make(block, spot);
    if (!made) return;
    if (block.kind === "conditional") this.bench.built.add(made.card);
    const ops = onto ? [made.op, ...this.between(onto, made.card)] : [made.op];
    if (!this.act(...ops)) return;
    this.bench.select([made.card]);
    this.bench.focusCard(made.card);
    this.bench.say(`Added ${this.nameOf(made.card)}`);
    if (after && !refuse(this.bench.graph, this.names(), after, made.card)) this.connect(after, made.card);
  }

  // insertCard leads an edge through a card that stands alone.
  insertCard(card: string, edge: Edge): void {
    if (this.act(...this.between(edge, card))) this.bench.say(`Put ${this.nameOf(card)} between ${this.nameOf(edge.from)} and ${this.nameOf(edge.to)}`);
  }

  // loose says whether a card can be put on an edge: no edge may touch it yet.
  loose(card: string): boolean {
    const { graph } = this.bench;
    return parse(card) !== undefined && graph.has(card) && graph.before(card).length + graph.after(card).length === 0;
  }

  private between(edge: Edge, card: string): Draft[] {
    const { graph, view } = this.bench;
    const [from, to] = [view.boxes.get(edge.from)!, view.boxes.get(edge.to)!];
    const after = [edge.to, ...graph.descendants(edge.to)].flatMap((id) => (view.boxes.has(id) ? [[id, view.boxes.get(id)!] as const] : []));
    const { at, move } = room(from, to, size("node"), new Map(after));
    return [...insert(graph, edge, card), { op: "move", move: { ...move, [card]: at } }];
  }

  private async make(block: Block, at: Point): Promise<{ card: string; op: Draft } | undefined> {
    if (block.kind === "existing" && block.card) {
      if (block.info) this.sync.infos[block.card] = block.info;
      return { card: block.card, op: { op: "add_node", card: block.card, at } };
    }
    if (!makes.includes(block.kind)) {
      const id = ulid();
      const made: Trigger = { id, name: "", type: block.kind as Trigger["type"] };
      if (block.kind === "scheduled") made.schedule = "cron(0 2 * * ? *)";
      if (block.kind === "event") made.event = { source: "files", size: 1 };
      return { card: id, op: { op: "add_trigger", new: made, at } };
    }
    const card = await this.ask({ kind: block.kind });
    return card === undefined ? undefined : { card, op: { op: "add_node", card, at } };
  }

  // ask lets the server make a job or crawler and answers with its card.
  private async ask(wanted: { kind: string; of?: string }): Promise<string | undefined> {
    const answer = await wire("POST", `/api/ui/workflows/${this.bench.workflow}/blocks`, wanted);
    if (answer.status !== 200) {
      const { message } = (answer.json ?? {}) as { message?: string };
      this.bench.refused(new Refusal("rule", message ?? silent));
      return undefined;
    }
    const { card, info } = answer.json as { card: string; info: Info };
    this.sync.infos[card] = info;
    return card;
  }

  add(at: Spot): void {
    this.offer(at, "Add", () => true, (block) => void this.put(block, { at }));
  }

  // drop ends a line on nothing: what is added there is connected.
  drop(from: string, at: Spot): void {
    const fits = (b: Block) => !begins(b) && !(this.bench.graph.triggers.has(from) && b.kind === "conditional");
    this.offer(at, "Add", fits, (block) => void this.put(block, { at, after: from }));
  }

  addAfter(card: string | undefined, at: Spot): void {
    this.offer(at, "Add", () => true, (block) => void this.put(block, { after: begins(block) ? undefined : card }));
  }

  private offer(at: Spot, label: string, fits: (block: Block) => boolean, put: (block: Block) => void): void {
    const palette = document.querySelector(".palette");
    const choices = (list: Block[]) => list.filter(fits).map((b) => ({ label: b.label, icon: b.icon, act: () => put(b) }));
    const here = new Set(blocks(palette, true).map((b) => b.card));
    // What the palette does not list is asked for, as its own search does.
    const more = async (text: string) => choices((await found(this.bench.workflow, text)).filter((b) => !here.has(b.card)));
    this.bench.choose(at, label, choices(blocks(palette)), { hint: "Find a block", ...(partial(palette) && { more }) });
  }
}

const begins = (block: Block): boolean => ["on_demand", "scheduled", "event"].includes(block.kind);

// insertable are the blocks that become a job or crawler.
const insertable = (block: Block): boolean => makes.includes(block.kind) || block.kind === "existing";

// makes are the blocks of which the server makes a job or crawler.
const makes = ["job", "python", "crawler"];
