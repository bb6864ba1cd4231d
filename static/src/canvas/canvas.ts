// <dog-canvas> adopts the graph that the server drew. It joins the parts: what
// is drawn, where the reader looks, what pointer and keys mean, and, where the
// graph can be edited, the draft that is kept with the server.
import { serverNow } from "../time";
import { Camera } from "./camera";
import { Bench, Edits } from "./edits";
import { touches } from "./geometry";
import { Keyboard } from "./keyboard";
import { showKeys } from "./keys";
import { Choice, closeMenu, menu, Spot } from "./menu";
import { Minimap } from "./minimap";
import { Edge, Graph, Names } from "./model";
import { ofCard, ofStage } from "./offers";
import { startPalette } from "./palette";
import { Panel } from "./panel";
import { Pointer } from "./pointer";
import { Message, RunView } from "./run";
import { SaveState, Sync, Watcher } from "./sync";
import { Data, Problem, Refusal } from "./types";
import { View } from "./view";
import { wire } from "./wire";

export class DogCanvas extends HTMLElement implements Watcher, Bench {
  view!: View;
  camera!: Camera;
  readonly selection = new Set<string>();
  focused: string | undefined;
  graph!: Graph;
  edits: Edits | undefined;
  private data!: Data;
  private stage!: HTMLElement;
  private minimap!: Minimap;
  private pointer!: Pointer;
  private keyboard!: Keyboard;
  private sync: Sync | undefined;
  private runView: RunView | undefined;
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
    this.panel = new Panel(document.getElementById("panel"), (card) => (card ? this.data.panel + card : `/workflows/${this.workflow}/panel`), () => this.sync?.settled() ?? Promise.resolve());
    this.pointer = new Pointer(this.stage, this);
    this.keyboard = new Keyboard(this.stage, this);
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
      if (card && card !== this.focused) this.rove(card);
    });
    // What is typed where nothing has the focus is meant for the graph.
    document.addEventListener("keydown", (event) => {
      if (event.target === document.body && event.key === "/") {
        event.preventDefault();
        this.run("find");
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
    this.listenToClipboard(edits);
    const panel = document.getElementById("panel");
    if (panel) {
      this.sign(panel);
      new MutationObserver(() => this.learn(panel)).observe(panel, { childList: true });
    }
    addEventListener("beforeunload", (event) => {
      if (sync.open > 0) event.preventDefault();
    });
    addEventListener("online", () => void sync.save());
    sync.start();
    this.mark();
  }

  private listenToClipboard(edits: Edits): void {
    const here = () => this.stage.contains(document.activeElement) && !(document.activeElement instanceof HTMLInputElement);
    for (const type of ["copy", "cut"] as const) {
      document.addEventListener(type, (event) => {
        const text = here() ? edits.copy() : undefined;
        if (text === undefined || !event.clipboardData) return;
        event.clipboardData.setData("text/plain", text);
        event.preventDefault();
        if (type === "cut") edits.remove();
      });
    }
    document.addEventListener("paste", (event) => {
      if (here() && edits.pasteText(event.clipboardData?.getData("text/plain") ?? "")) event.preventDefault();
    });
  }

  // learn takes over what a form of the panel has saved: the name on a card, and
  // that the draft has moved on.
  private learn(panel: HTMLElement): void {
    const details = panel.querySelector<HTMLElement>("[data-panel]");
    if (!details || !this.sync) return;
    this.sign(panel);
    const { panel: card = "", seq = "0", info } = details.dataset;
    if (info && card) {
      this.sync.infos[card] = JSON.parse(info) as Data["infos"][string];
      this.changed();
    }
    this.sync.pull(Number(seq));
    // A job's own draft has no topic: the head counts its changes by this.
    if ("saved" in details.dataset) document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
  }

  // sign puts the name of this tab into the form of the panel: what it saves is
  // an act of this tab and can be undone here.
  private sign(panel: HTMLElement): void {
    const field = panel.querySelector<HTMLInputElement>("input[name=client]");
    if (field && this.sync) field.value = this.sync.client;
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
    const chosen = this.selection.size;
    for (const card of [...this.selection]) if (!this.view.cards.has(card)) this.selection.delete(card);
    if (chosen > 0 && this.selection.size === 0) this.panel.show("");
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

  // Selection, focus and the panel.

  select(cards: Iterable<string>): void {
    const next = [...cards].filter((card) => this.view.cards.has(card));
    this.focusEdge(undefined);
    this.selection.clear();
    for (const card of next) this.selection.add(card);
    this.paintSelection();
    const only = next.length === 1 ? next[0] : undefined;
    if (only) this.rove(only);
    // The page of a run has no panel of the workflow.
    this.panel.show(next.length === 0 && this.edits ? "" : only);
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
    this.panel.adopt(wanted ?? "");
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
    const at = this.view.middle(edge.key);
    if (at) this.edits?.edge(edge, this.spot(at));
  }

  // spot is where a point of the graph is on the screen.
  private spot(at: { x: number; y: number }): Spot {
    const box = this.stage.getBoundingClientRect();
    return { clientX: box.left + at.x * this.camera.k + this.camera.x, clientY: box.top + at.y * this.camera.k + this.camera.y };
  }

  addAfter(card: string | undefined): void {
    const box = (card && this.view.cards.get(card)?.getBoundingClientRect()) || this.stage.getBoundingClientRect();
    this.edits?.addAfter(card, { clientX: card ? box.right + 12 : box.left + box.width / 2, clientY: box.top + 12 });
  }

  menuOf(card: string | undefined): void {
    const box = card && this.view.cards.get(card)?.getBoundingClientRect();
    const at = box || this.stage.getBoundingClientRect();
    this.menuAt({ clientX: at.left + 20, clientY: box ? box.bottom + 6 : at.top + 20 }, card, undefined);
  }

  menuAt(at: Spot, card: string | undefined, edge: Edge | undefined): void {
    if (edge && this.edits) return this.edits.edge(edge, at);
    if (!card) return this.choose(at, "Canvas", ofStage(at, this, this.edits));
    if (!this.selection.has(card)) this.select([card]);
    this.focusCard(card);
    const many = this.selection.size;
    this.choose(at, many > 1 ? `${many} cards` : this.nameOf(card), ofCard(card, this, this.edits));
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

  // find leads to a card by its name.
  private find(): void {
    const box = this.stage.getBoundingClientRect();
    const choices = [...this.view.cards.keys()].map((card) => ({
      label: this.nameOf(card),
      act: () => {
        this.select([card]);
        this.focusCard(card);
      },
    }));
    this.choose({ clientX: box.left + box.width / 2 - 110, clientY: box.top + 20 }, "Find a card", choices, "Name of a card");
  }

  choose(at: Spot, label: string, choices: Choice[], search?: string): void {
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
      find: () => this.find(),
      keys: showKeys,
    };
    steps[act]?.();
    this.mark();
  }

  // tidy keeps the reader's place, unless nothing is left there to see.
  private async tidy(): Promise<void> {
    this.edits?.act({ op: "tidy" });
    await this.sync?.settled();
    const seen = this.camera.seen();
    if (![...this.view.boxes.values()].some((box) => touches(box, seen))) this.camera.fit(this.view.extent());
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

