// <dog-canvas> adopts the graph that the server drew. It joins the parts: what
// is drawn, where the reader looks, what pointer and keys mean, and, where the
// graph can be edited, the draft that is kept with the server.
import { serverNow } from "../time";
import { Camera } from "./camera";
import { Chosen } from "./chosen";
import { startClipboard } from "./clipboard";
import { Bench, Edits } from "./edits";
import { Fallen } from "./fallen";
import { Box } from "./geometry";
import { Keyboard } from "./keyboard";
import { find, showKeys } from "./keys";
import { Choice, closeMenu, Search, Spot } from "./menu";
import { Ground, Menus } from "./menus";
import { Minimap } from "./minimap";
import { about, actions, compact, Edge, Graph, Names } from "./model";
import { Notices } from "./notices";
import { Packed } from "./packed";
import { startPalette } from "./palette";
import { Host, Panel } from "./panel";
import { Pointer } from "./pointer";
import { Message, RunView } from "./run";
import { SaveState, Sync, Watcher } from "./sync";
import { Data, Problem, Refusal } from "./types";
import { View } from "./view";
import { wire } from "./wire";

export class DogCanvas extends HTMLElement implements Watcher, Bench, Ground, Host {
  view!: View;
  camera!: Camera;
  graph!: Graph;
  edits: Edits | undefined;
  private data!: Data;
  private stage!: HTMLElement;
  private minimap!: Minimap;
  private pointer!: Pointer;
  private keyboard!: Keyboard;
  private sync: Sync | undefined;
  private runView: RunView | undefined;
  private fallen: Fallen | undefined;
  private following = false;
  // The conditions that were put here as cards: each stays one while it is built,
  // and turns into the pill on a line once that is all it is and the person goes on.
  readonly built = new Set<string>();
  private panel!: Panel;
  private chosen!: Chosen;
  private notices!: Notices;
  private menus!: Menus;

  connectedCallback(): void {
    if (this.data) return; // moved within the page, not new
    this.data = JSON.parse(this.querySelector("#canvas-data")!.textContent!) as Data;
    this.stage = this.querySelector(".stage")!;
    const { packed, signs = {} } = this.data;
    this.view = new View(this, this.data.words, packed && new Packed(this, packed, signs));
    this.camera = new Camera(this.stage, this.querySelector(".world")!, () => {
      this.view.look(this.camera.seen(), this.camera.far);
      this.minimap?.look();
    });
    this.notices = new Notices(this, this.view);
    this.chosen = new Chosen(this.stage, this.view, this.camera);
    this.minimap = new Minimap(this, this.view, this.camera);
    this.menus = new Menus(this, this.stage, this);
    this.graph = new Graph(this.data.body ?? {});
    this.panel = new Panel(document.getElementById("panel"), (card) => (card ? this.data.panel + card : `/workflows/${this.workflow}/panel`), () => this.sync?.settled() ?? Promise.resolve(), this);
    this.pointer = new Pointer(this.stage, this);
    this.keyboard = new Keyboard(this.stage, this);
    this.listen();
    if (this.data.mode === "edit") this.beginEdit();
    if (this.data.mode === "run") this.beginRun();
    const wanted = this.dataset["selected"];
    this.chosen.adopt(wanted);
    this.panel.adopt(wanted ?? "");
    this.parentElement?.style.setProperty("--rows", String(this.view.extent()?.h ?? 0)); // how high it would be
    this.classList.add("ready");
    // The first call comes with the first layout, before anything is painted.
    new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      const kept = this.keeps();
      this.camera.resize(width, height);
      if (!this.camera.steered) this.begin();
      else if (kept) this.camera.reveal(kept, true);
      else this.camera.show();
    }).observe(this.stage);
  }

  // begin is the first look: at the card that was asked for, where one was.
  private begin(): void {
    this.camera.begin(this.view.extent(), this.view.first());
    const asked = new URLSearchParams(location.search).get("node") ?? (this.runView && this.chosen.only);
    const box = this.view.boxes.get(asked ?? "");
    if (box && !this.camera.shows(box)) this.camera.reveal(box);
  }

  // keeps is the card that is chosen, where it can be seen: a stage that becomes smaller
  // does not hide it.
  private keeps(): Box | undefined {
    const box = this.view.boxes.get(this.chosen.only ?? "");
    return box && this.camera.shows(box) ? box : undefined;
  }

  get selection(): Set<string> {
    return this.chosen.cards;
  }
  get focused(): string | undefined {
    return this.chosen.focused;
  }
  get words(): Record<string, string> {
    return this.data.words;
  }
  get workflow(): string {
    return this.data.workflow;
  }

  private listen(): void {
    this.querySelector(".tools")!.addEventListener("click", (event) => {
      const act = (event.target as Element).closest<HTMLElement>("[data-act]")?.dataset["act"];
      if (act) this.run(act);
    });
    this.querySelector(".nodes")!.addEventListener("focusin", (event) => {
      const card = (event.target as Element).closest<HTMLElement>(".node")?.dataset["id"];
      if (card) this.view.come(card);
      if (card && card !== this.focused) this.chosen.rove(card);
    });
    // A card that was pressed before this script was there (static/src/early.ts).
    this.addEventListener("dogear:pressed", (event) => {
      const card = (event.target as Element).closest<HTMLElement>(".node")?.dataset["id"];
      if (card) this.select([card]);
    });
    // What is typed where nothing has the focus is meant for the graph.
    document.addEventListener("keydown", (event) => {
      const act = event.target === document.body ? find(event)?.act : undefined;
      if (act === "find" || (act === "fallen" && this.fallen)) {
        event.preventDefault();
        if (act === "find") this.run("find");
        else this.step(event);
      }
    });
    document.body.addEventListener("dogear:message", (event) => this.receive((event as CustomEvent<Message>).detail));
  }

  private beginEdit(): void {
    const sync = new Sync(this.data, this, wire, localStorage);
    const edits = new Edits(this, sync);
    this.sync = sync;
    this.edits = edits;
    const palette = document.querySelector<HTMLElement>(".palette");
    if (palette) startPalette(palette, { put: (block, at) => void edits.put(block, { at }), over: (at) => this.isOver(at) });
    startClipboard(this.stage, edits);
    this.panel.listen(sync, () => this.changed());
    addEventListener("beforeunload", (event) => {
      if (sync.open > 0 || this.panel.unsaved) event.preventDefault();
    });
    addEventListener("online", () => void sync.save());
    sync.start();
    this.mark();
  }

  private beginRun(): void {
    const reveal = (card: string) => {
      if (this.following && this.view.boxes.has(card)) this.camera.reveal(this.view.boxes.get(card)!);
    };
    const run = new RunView(this.data, this.view, reveal, (text) => this.say(text), serverNow);
    this.runView = run;
    const fell = (status: string) => this.data.signs?.[status]?.hue === "bad";
    const fallen = new Fallen(this.view, fell, () => this.chosen.only, (card) => this.goTo(card), (text) => this.say(text));
    this.fallen = fallen;
    // The head of the page follows the run and says what is to be skipped.
    const learn = () => {
      run.skips(new Set(document.getElementById("run-head")?.dataset["skips"]?.split(" ").filter(Boolean)));
      fallen.tell();
    };
    learn();
    document.addEventListener("htmx:after:swap", learn);
    // A link of the page to a node leads to its card.
    document.addEventListener("click", (event) => {
      const card = (event.target as Element).closest<HTMLElement>("[data-goto]")?.dataset["goto"];
      if (!card || !this.view.cards.has(card) || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.goTo(card);
    });
  }

  private receive(message: Message): void {
    this.runView?.receive(message);
    if (message.topic === `draft:${this.data.workflow}` && message.seq) this.sync?.pull(message.seq);
    this.minimap.draw();
  }

  // What the draft tells (Watcher).

  changed(): void {
    if (!this.sync) return;
    this.graph = new Graph(this.sync.body, this.built);
    const inGraph = this.stage.contains(document.activeElement);
    this.view.draw(this.graph, this.sync.body, this.sync.infos);
    this.pointer.redrawn();
    if (this.chosen.settle(inGraph) && this.panel.drop()) this.refused(new Refusal("gone", "The card was deleted, and what was typed in its panel went with it."));
    this.panel.follow();
    this.mark();
    this.minimap.draw();
  }

  refused(refusal: Refusal, passing = false): void {
    this.notices.refused(refusal, passing);
  }
  calm(): void {
    this.notices.calm();
  }
  saving(state: SaveState, open: number, why?: string): void {
    this.notices.saving(state, open, why);
  }
  problems(list: Problem[]): void {
    this.notices.problems(list);
  }
  say(text: string): void {
    this.notices.say(text);
  }

  // Selection, focus and the panel.

  select(cards: Iterable<string>): void {
    this.focusEdge(undefined);
    this.chosen.select(cards);
    if (this.selection.size > 0) this.settleBuilt();
    // The page of a run has no panel of the workflow.
    this.panel.show(this.selection.size === 0 && this.edits ? "" : this.chosen.only);
    this.fallen?.tell();
    if (this.runView && this.chosen.only) this.follow(this.chosen.only);
  }

  // follow scrolls the bars of the timeline to the newest of a card, and nothing else.
  private follow(card: string): void {
    const gantt = document.querySelector<HTMLElement>(".timeline > .gantt");
    const bar = [...(gantt?.querySelectorAll<HTMLElement>(`a[href*="node=${card}&"]`) ?? [])].at(-1);
    if (!gantt || !bar) return;
    const [row, all] = [bar.getBoundingClientRect(), gantt.getBoundingClientRect()];
    gantt.scrollTop += Math.min(row.top - all.top, 0) || Math.max(row.bottom - all.bottom, 0);
  }

  // settleBuilt draws the conditions that are built, and not selected, as lines.
  private settleBuilt(): void {
    const done = [...this.built].filter((id) => {
      const t = this.graph.triggers.get(id);
      return !this.selection.has(id) && t && compact(t) && actions(t).length === 1;
    });
    for (const id of done) this.built.delete(id);
    if (done.length > 0) this.changed();
  }

  // What the panel tells (Host).

  stays(card: string): void {
    this.chosen.select(card ? [card] : []);
    this.say("Not saved. The panel stays until it is saved or discarded.");
  }
  typed(unsaved: boolean): void {
    this.notices.typed(unsaved);
  }
  about(card: string): string {
    return this.sync ? about(this.sync.body, card) : "";
  }
  joined(card: string, side: "before" | "after"): boolean {
    return this.graph[side](card).length > 0;
  }
  askRun(): void {
    void window.htmx?.ajax("GET", `/workflows/${this.workflow}/publish?then=run&typed=yes`, { source: this, target: "body", swap: "beforeend" });
  }
  known(): number {
    return this.sync ? this.sync.known : 0;
  }

  focusCard(card: string | undefined): void {
    this.chosen.focus(card);
  }

  focusEdge(edge: Edge | undefined): void {
    for (const { path, edge: other } of this.view.lines.values()) path.classList.toggle("focused", other.key === edge?.key);
    if (edge) this.say(`${this.nameOf(edge.from)} to ${this.nameOf(edge.to)}${edge.state ? `, ${this.data.words[edge.state]}` : ""}. X cuts it${edge.state ? ", E changes it" : ""}.`);
  }

  // step goes to the next or previous card of a run that failed.
  step(event: KeyboardEvent): void {
    this.fallen?.step(event.shiftKey ? -1 : 1);
  }

  // goTo selects a card and brings it into view.
  private goTo(card: string): void {
    this.select([card]);
    this.focusCard(card);
    this.scrollIntoView({ block: "nearest" });
  }

  openPanel(): void {
    this.panel.enter();
  }

  details(card: string): void {
    this.panel.show(card);
  }

  renamed(card: string, name: string): void {
    this.panel.renamed(card, name);
  }

  nameOf(card: string): string {
    const drawn = this.view.cards.get(card)?.querySelector("[data-slot=name]")?.textContent;
    return drawn || new Names(this.graph, this.sync?.infos ?? this.data.infos).of(card);
  }

  // Menus.

  condition(edge: Edge): void {
    this.menus.condition(edge);
  }
  addAfter(card: string | undefined): void {
    this.menus.addAfter(card);
  }
  menuOf(card: string | undefined): void {
    this.menus.of(card);
  }
  menuAt(at: Spot, card: string | undefined, edge: Edge | undefined): void {
    this.menus.at(at, card, edge);
  }
  choose(at: Spot, label: string, choices: Choice[], search?: Search): void {
    this.menus.choose(at, label, choices, search);
  }

  open(card: string): void {
    this.select([card]);
    this.openPanel();
  }

  connectFrom(card: string): void {
    this.keyboard.connectFrom(card);
  }
  connecting(): string | undefined {
    return this.keyboard.connecting;
  }
  endConnect(): void {
    this.keyboard.endConnect();
  }

  // runAlone starts a job or crawler without the workflow; the server answers
  // with the page of the run, or with why not.
  runAlone(card: string): void {
    const [kind, id] = [card.slice(0, card.indexOf("-")), card.slice(card.indexOf("-") + 1)];
    void window.htmx?.ajax("POST", `/${kind}s/${id}/run`, { source: this, swap: "none" });
  }

  // moveBookmarks moves those of a job; a reset opens the dialog that asks.
  moveBookmarks(card: string, move: "pause" | "resume" | "reset"): void {
    const path = `/jobs/${card.slice(card.indexOf("-") + 1)}/bookmarks/${move}`;
    if (move === "reset") void window.htmx?.ajax("GET", path, { source: this, target: "body", swap: "beforeend" });
    else void window.htmx?.ajax("POST", path, { source: this, swap: "none" });
  }

  bookmarks(card: string): "on" | "paused" | undefined {
    const state = this.view.cards.get(card)?.dataset["marks"];
    return state === "on" || state === "paused" ? state : undefined;
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
      undo: () => {
        this.sync?.undo();
        this.panel.refresh();
      },
      redo: () => {
        this.sync?.redo();
        this.panel.refresh();
      },
      tidy: () => void this.tidy(),
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
      find: () => this.menus.find(),
      keys: showKeys,
    };
    steps[act]?.();
    this.mark();
  }

  // tidy shows all that it has put elsewhere.
  private async tidy(): Promise<void> {
    this.edits?.act({ op: "tidy", cards: [...this.built] });
    await this.sync?.settled();
    this.camera.fit(this.view.extent());
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
}
