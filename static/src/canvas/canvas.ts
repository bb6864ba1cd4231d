// <dog-canvas> adopts the graph that the server drew. It joins the parts: what
// is drawn, where the reader looks, what pointer and keys mean, and, where the
// graph can be edited, the draft that is kept with the server.
import { serverNow } from "../time";
import { Camera } from "./camera";
import { freeSpot, size, snap } from "./geometry";
import { ulid } from "./ids";
import { Keyboard } from "./keyboard";
import { table } from "./keys";
import { Choice, closeMenu, menu } from "./menu";
import { Minimap } from "./minimap";
import { Edge, Graph, impossible, Names, refuse } from "./model";
import { Block, blocks, startPalette } from "./palette";
import { Panel } from "./panel";
import { Pointer } from "./pointer";
import { Message, RunView } from "./run";
import { SaveState, Sync, Watcher } from "./sync";
import { Data, Op, Point, Problem, Refusal, Trigger } from "./types";
import { View } from "./view";
import { wire } from "./wire";

type Spot = { clientX: number; clientY: number };
type Draft = Omit<Op, "id">;

export class DogCanvas extends HTMLElement implements Watcher {
  view!: View;
  camera!: Camera;
  readonly selection = new Set<string>();
  focused: string | undefined;
  private data!: Data;
  private stage!: HTMLElement;
  private minimap!: Minimap;
  private pointer!: Pointer;
  private sync: Sync | undefined;
  private runView: RunView | undefined;
  private graph!: Graph;
  private following = false;
  private wasSaving = false;
  private panel!: Panel;

  connectedCallback(): void {
    if (this.data) return; // moved within the page, not new
    this.data = JSON.parse(this.querySelector("#canvas-data")!.textContent!) as Data;
    this.stage = this.querySelector(".stage")!;
    this.view = new View(this, this.data.words);
    this.camera = new Camera(this.stage, this.querySelector(".world")!, () => this.minimap?.look());
    this.minimap = new Minimap(this, this.view, this.camera);
    this.graph = new Graph(this.data.body ?? {});
    this.panel = new Panel(document.getElementById("panel"), (card) => this.data.panel + card, () => this.sync?.settled() ?? Promise.resolve());
    this.pointer = new Pointer(this.stage, this);
    new Keyboard(this.stage, this);
    this.listen();
    if (this.data.mode === "edit") this.beginEdit();
    if (this.data.mode === "run") this.beginRun();
    this.adoptSelection();
    this.classList.add("ready");
    // The first call comes with the first layout, before anything is painted.
    new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      this.camera.resize(width, height);
      if (this.camera.steered) this.camera.show();
      else this.camera.begin(this.view.extent());
    }).observe(this.stage);
  }

  get canEdit(): boolean {
    return this.sync !== undefined;
  }

  private listen(): void {
    this.querySelector(".tools")!.addEventListener("click", (event) => {
      const act = (event.target as Element).closest<HTMLElement>("[data-act]")?.dataset["act"];
      if (act) this.run(act);
    });
    this.querySelector(".nodes")!.addEventListener("focusin", (event) => {
      const card = (event.target as Element).closest<HTMLElement>(".node")?.dataset["id"];
      if (card && card !== this.focused) this.rove(card);
    });
    document.body.addEventListener("dogear:message", (event) => this.receive((event as CustomEvent<Message>).detail));
  }

  private beginEdit(): void {
    const sync = new Sync(this.data, this, wire, localStorage);
    this.sync = sync;
    const palette = document.querySelector<HTMLElement>(".palette");
    if (palette) startPalette(palette, { canEdit: true, put: (block, at) => void this.put(block, at), over: (at) => this.isOver(at) });
    const panel = document.getElementById("panel");
    if (panel) new MutationObserver(() => this.learn(panel)).observe(panel, { childList: true });
    addEventListener("beforeunload", (event) => {
      if (sync.open > 0) event.preventDefault();
    });
    addEventListener("online", () => void sync.save());
    sync.start();
    this.mark();
  }

  // learn takes over what a form of the panel has saved: the name on a card, and
  // that the draft has moved on.
  private learn(panel: HTMLElement): void {
    const details = panel.querySelector<HTMLElement>("[data-panel]");
    if (!details || !this.sync) return;
    const { panel: card = "", seq = "0", info } = details.dataset;
    if (info && card) {
      this.sync.infos[card] = JSON.parse(info) as Data["infos"][string];
      this.changed();
    }
    this.sync.pull(Number(seq));
    // A job's own draft has no topic: the head counts its changes by this.
    if ("saved" in details.dataset) document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
  }

  private beginRun(): void {
    const reveal = (card: string) => {
      if (this.following && this.view.boxes.has(card)) this.camera.reveal(this.view.boxes.get(card)!);
    };
    this.runView = new RunView(this.data, this.view, reveal, (text) => this.say(text), serverNow);
  }

  private receive(message: Message): void {
    this.runView?.receive(message);
    if (message.topic === `draft:${this.data.workflow}` && message.seq) this.sync?.pull(message.seq);
    this.minimap.draw();
  }

  // What the draft tells (Watcher).

  changed(): void {
    if (!this.sync) return;
    this.graph = new Graph(this.sync.body);
    const before = this.focused;
    const inGraph = this.stage.contains(document.activeElement);
    this.view.draw(this.sync.body, this.sync.infos);
    for (const card of [...this.selection]) if (!this.view.cards.has(card)) this.selection.delete(card);
    if (before && !this.view.cards.has(before)) this.focusNear(inGraph);
    this.paintSelection();
    this.mark();
    this.minimap.draw();
  }

  refused(refusal: Refusal): void {
    const box = this.querySelector<HTMLElement>(".refused")!;
    box.textContent = refusal.message;
    box.classList.add("shown");
    if (refusal.path.length > 1) this.view.light(refusal.path);
    const hide = () => (box.matches(":hover") ? setTimeout(hide, 1000) : box.classList.remove("shown"));
    setTimeout(hide, 5000);
  }

  saving(state: SaveState, open: number, why = ""): void {
    const words = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Offline – ${open} ${open === 1 ? "change" : "changes"} kept`,
      stuck: `Not saved: ${why}`,
    }[state];
    for (const element of document.querySelectorAll<HTMLElement>("[data-save]")) {
      if (element.textContent !== words) element.textContent = words;
      element.dataset["save"] = state;
    }
    const told = this.sync !== undefined && state === "saved" && this.wasSaving;
    this.wasSaving = state === "saving" && open > 0;
    if (told) document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
  }

  problems(list: Problem[]): void {
    for (const [id, card] of this.view.cards) {
      const found = list.find((p) => p.card === id && !p.soft);
      card.classList.toggle("wrong", found !== undefined);
      const badge = card.querySelector<HTMLElement>("[data-slot=problem]");
      if (badge) badge.title = found?.message ?? "";
    }
  }

  // act does operations as one act and shows a refusal.
  private act(...ops: Draft[]): boolean {
    try {
      this.sync?.act(ops);
      this.querySelector(".refused")?.classList.remove("shown");
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refused(error);
      return false;
    }
  }

  // Selection, focus and the panel.

  select(cards: Iterable<string>): void {
    const next = [...cards].filter((card) => this.view.cards.has(card));
    this.focusEdge(undefined);
    this.selection.clear();
    for (const card of next) this.selection.add(card);
    this.paintSelection();
    const only = next.length === 1 ? next[0] : undefined;
    if (only) this.rove(only);
    this.panel.show(only);
  }

  private paintSelection(): void {
    for (const [id, card] of this.view.cards) {
      const selected = String(this.selection.has(id));
      if (card.getAttribute("aria-selected") !== selected) card.setAttribute("aria-selected", selected);
    }
  }

  private adoptSelection(): void {
    const wanted = this.dataset["selected"];
    if (wanted && this.view.cards.has(wanted)) this.selection.add(wanted);
    this.panel.adopt(wanted);
    this.paintSelection();
    const first = wanted && this.view.cards.has(wanted) ? wanted : this.view.cards.keys().next().value;
    if (first) this.rove(first);
  }

  // rove makes a card the one stop of the tab key.
  private rove(card: string): void {
    if (this.focused) this.view.cards.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = card;
    this.view.cards.get(card)?.setAttribute("tabindex", "0");
  }

  focusCard(card: string | undefined): void {
    const element = card && this.view.cards.get(card);
    if (!card || !element) return;
    this.rove(card);
    element.focus({ preventScroll: true });
    this.camera.reveal(this.view.boxes.get(card)!);
  }

  // focusNear puts the focus on what stands nearest to where the lost card was.
  private focusNear(really: boolean): void {
    const card = [...this.selection][0] ?? this.view.cards.keys().next().value;
    this.focused = undefined;
    if (card === undefined) {
      if (really) this.stage.focus({ preventScroll: true });
    } else if (really) {
      this.focusCard(card);
    } else {
      this.rove(card);
    }
  }

  focusEdge(edge: Edge | undefined): void {
    for (const { path, edge: other } of this.view.lines.values()) path.classList.toggle("focused", other.key === edge?.key);
    if (edge) this.say(`${this.nameOf(edge.from)} to ${this.nameOf(edge.to)}${edge.state ? `, ${this.data.words[edge.state]}` : ""}. X cuts it${edge.state ? ", E changes it" : ""}.`);
  }

  openPanel(): void {
    this.panel.enter();
  }

  // Edits.

  private names(): Names {
    return new Names(this.graph, this.sync?.infos ?? this.data.infos);
  }
  private nameOf(card: string): string {
    return this.names().of(card);
  }

  moveTo(places: Record<string, Point>): void {
    this.act({ op: "move", move: places });
  }

  impossible(from: string): Set<string> {
    return impossible(this.graph, from);
  }

  // complain lights the way that an edge would close, and says so.
  complain(from: string, to: string): void {
    const refusal = refuse(this.graph, this.names(), from, to);
    if (refusal && refusal.code !== "same") this.refused(refusal);
  }

  connect(from: string, to: string): void {
    const refusal = refuse(this.graph, this.names(), from, to);
    if (refusal) return this.refused(refusal);
    const done = () => this.say(`Connected ${this.nameOf(from)} to ${this.nameOf(to)}`);
    if (this.graph.triggers.has(from) || this.graph.triggers.has(to)) {
      if (this.act({ op: "connect", card: from, to })) done();
      return;
    }
    const { gate, ask } = this.graph.suggest(to);
    if (!ask) {
      if (this.act({ op: "connect", card: from, to, trigger: gate ?? ulid(), join: gate !== undefined })) done();
      return;
    }
    const target = this.view.boxes.get(to)!;
    const joined = (logic: "all" | "any") => () => {
      const spot = { x: target.x - 190, y: target.y + 10, ...size("gate") };
      const at = this.view.boxes.has(ask) ? undefined : snap(freeSpot(spot, [...this.view.boxes.values()]));
      if (this.act({ op: "connect", card: from, to, trigger: ask, join: true, logic, at })) done();
    };
    const card = this.view.cards.get(to)!.getBoundingClientRect();
    this.choose({ clientX: card.left, clientY: card.bottom + 6 }, `When does ${this.nameOf(to)} start?`, [
      { label: "When all have succeeded", act: joined("all") },
      { label: "When any has succeeded", act: joined("any") },
    ]);
  }

  cut(edge: Edge): void {
    if (this.act({ op: "disconnect", card: edge.from, to: edge.to, trigger: edge.trigger })) this.say("Cut");
  }

  condition(edge: Edge): void {
    const at = this.view.middle(edge.key);
    if (!at) return;
    const box = this.stage.getBoundingClientRect();
    this.editEdge(edge.key, { clientX: box.left + at.x * this.camera.k + this.camera.x, clientY: box.top + at.y * this.camera.k + this.camera.y });
  }

  // editEdge offers the conditions of an edge and the cut.
  editEdge(key: string, at: Spot): void {
    const edge = this.view.lines.get(key)?.edge;
    if (!edge) return;
    const trigger = edge.trigger ?? edge.to;
    const choices: Choice[] = [];
    if (edge.state) {
      for (const [state, word] of Object.entries(this.data.words)) {
        const set = () => this.act({ op: "set_condition", card: trigger, to: edge.from, patch: { state }, prev: { state: edge.state } });
        choices.push({ label: word, current: state === edge.state, act: () => void set() });
      }
    }
    if (edge.trigger) choices.push({ label: "Details…", icon: "sliders-horizontal", act: () => this.panel.show(trigger) });
    choices.push({ label: "Cut", icon: "unlink", act: () => this.cut(edge) });
    this.choose(at, `${this.nameOf(edge.from)} → ${this.nameOf(edge.to)}`, choices);
  }

  removeCards(): void {
    const cards = this.selection.size > 0 ? [...this.selection] : this.focused ? [this.focused] : [];
    if (cards.length === 0) return;
    const names = cards.length === 1 ? this.nameOf(cards[0]!) : `${cards.length} cards`;
    const ops = cards.map((card) => ({ op: this.graph.triggers.has(card) ? "del_trigger" : "del_node", card }));
    if (this.act(...ops)) this.say(`Removed ${names}. Ctrl+Z brings it back.`);
  }

  disable(card: string): void {
    const t = this.graph.triggers.get(card);
    if (t) this.act({ op: "set_trigger", card, patch: { disabled: !t.disabled }, prev: { disabled: !!t.disabled } });
  }

  // put places a block of the palette: where it was dropped, or beside the
  // selection, or in the middle of the view.
  private async put(block: Block, at?: Spot, after?: string): Promise<void> {
    const shape = block.kind === "job" || block.kind === "crawler" || block.kind === "existing" ? "node" : "small";
    const { w, h } = size(shape);
    const beside = this.view.boxes.get(after ?? [...this.selection][0] ?? "");
    const middle = this.camera.toWorld(at ? this.camera.at(at) : this.camera.middle());
    const wanted = at || !beside ? { x: middle.x - w / 2, y: middle.y - h / 2 } : { x: beside.x + beside.w + 130, y: beside.y };
    const spot = snap(freeSpot({ ...snap(wanted), w, h }, [...this.view.boxes.values()]));
    const made = await this.make(block, spot);
    if (!made) return;
    const ops = [made.op];
    if (this.act(...ops)) {
      this.select([made.card]);
      this.focusCard(made.card);
      this.say(`Added ${this.nameOf(made.card)}`);
      if (after) this.connect(after, made.card);
    }
  }

  private async make(block: Block, at: Point): Promise<{ card: string; op: Draft } | undefined> {
    if (block.kind === "existing" && block.card) {
      if (block.info) this.sync!.infos[block.card] = block.info;
      return { card: block.card, op: { op: "add_node", card: block.card, at } };
    }
    if (block.kind !== "job" && block.kind !== "crawler") {
      const id = ulid();
      const made: Trigger = { id, name: "", type: block.kind as Trigger["type"] };
      if (block.kind === "scheduled") made.schedule = "cron(0 2 * * ? *)";
      return { card: id, op: { op: "add_trigger", new: made, at } };
    }
    const answer = await wire("POST", `/api/ui/workflows/${this.data.workflow}/blocks`, { kind: block.kind });
    if (answer.status !== 200) {
      const { message } = (answer.json ?? {}) as { message?: string };
      this.refused(new Refusal("rule", message ?? "The server did not answer, and a new job is made there. Try again in a moment."));
      return undefined;
    }
    const { card, info } = answer.json as { card: string; info: Data["infos"][string] };
    this.sync!.infos[card] = info;
    return { card, op: { op: "add_node", card, at } };
  }

  add(at: Spot): void {
    this.offer(at, blocks(document.querySelector(".palette")), (block) => void this.put(block, at));
  }

  // drop ends a line on nothing: what is added there is connected.
  drop(from: string, at: Spot): void {
    const fits = (b: Block) => b.kind !== "on_demand" && b.kind !== "scheduled" && !(this.graph.triggers.has(from) && b.kind === "conditional");
    this.offer(at, blocks(document.querySelector(".palette")).filter(fits), (block) => void this.put(block, at, from));
  }

  addAfter(card: string | undefined): void {
    const box = card ? this.view.cards.get(card)?.getBoundingClientRect() : this.stage.getBoundingClientRect();
    if (!box) return;
    const at = { clientX: box.right + 12, clientY: box.top };
    const all = blocks(document.querySelector(".palette"));
    this.offer(at, all, (block) => void this.put(block, undefined, card && block.kind !== "on_demand" && block.kind !== "scheduled" ? card : undefined));
  }

  private offer(at: Spot, list: Block[], put: (block: Block) => void): void {
    const choices = list.map((b) => ({ label: b.label, icon: b.icon, act: () => put(b) }));
    this.choose(at, "Add", choices, true);
  }

  private choose(at: Spot, label: string, choices: Choice[], search = false): void {
    const sprite = document.querySelector("use")?.getAttribute("href")?.split("#")[0] ?? "";
    menu(this, at, label, choices, sprite, search);
  }

  private isOver(at: Spot): boolean {
    const hit = document.elementFromPoint(at.clientX, at.clientY);
    return hit !== null && this.contains(hit);
  }

  cancelPointer(): boolean {
    closeMenu();
    const busy = this.pointer.busy;
    this.pointer.cancel();
    return busy;
  }

  // run does what a button of the toolbar or a key without a card means.
  run(act: string): void {
    const steps: Record<string, () => void> = {
      undo: () => this.sync?.undo(),
      redo: () => this.sync?.redo(),
      tidy: () => this.act({ op: "tidy" }),
      fit: () => this.camera.fit(this.view.extent()),
      "zoom-in": () => this.camera.zoom(1.25),
      "zoom-out": () => this.camera.zoom(0.8),
      "zoom-1": () => this.camera.zoom(1 / this.camera.k),
      follow: () => {
        this.following = !this.following;
        this.querySelector("[data-act=follow]")?.setAttribute("aria-pressed", String(this.following));
        this.say(this.following ? "Following the running card" : "No longer following");
      },
      list: () => {
        const listed = this.classList.toggle("listed");
        this.querySelector("[data-act=list]")?.setAttribute("aria-pressed", String(listed));
      },
      keys: () => this.showKeys(),
    };
    steps[act]?.();
    this.mark();
  }

  private showKeys(): void {
    const dialog = document.createElement("dialog");
    dialog.dataset["show"] = "";
    dialog.setAttribute("aria-label", "Keys of the canvas");
    const sheet = document.createElement("div");
    sheet.className = "sheet keys";
    const heading = document.createElement("h2");
    heading.textContent = "Keys of the canvas";
    const list = document.createElement("dl");
    for (const { keys, does } of table) {
      const dt = document.createElement("dt");
      for (const key of keys) {
        const kbd = document.createElement("kbd");
        kbd.textContent = key.replace("Mod", "Ctrl").replace("Arrow", "").replace(/^ $/, "Space");
        dt.append(kbd, " ");
      }
      const dd = document.createElement("dd");
      dd.textContent = does;
      list.append(dt, dd);
    }
    const close = document.createElement("button");
    close.type = "button";
    close.className = "btn";
    close.dataset["close"] = "";
    close.textContent = "Close";
    sheet.append(heading, list, close);
    dialog.append(sheet);
    document.body.append(dialog);
  }

  // mark shows which tools can be used now.
  private mark(): void {
    const able = (act: string, yes: boolean) => this.querySelector(`[data-act=${act}]`)?.setAttribute("aria-disabled", String(!yes));
    able("undo", !!this.sync?.canUndo);
    able("redo", !!this.sync?.canRedo);
    const taken = new Set(this.graph.cards);
    for (const block of document.querySelectorAll<HTMLElement>(".palette .block[data-card]")) {
      block.setAttribute("aria-disabled", String(taken.has(block.dataset["card"] ?? "")));
    }
  }

  say(text: string): void {
    const box = this.querySelector(".said");
    if (box) box.textContent = text;
  }
}

