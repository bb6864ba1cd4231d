// What the keys do. Every edit goes the way of the mouse: through the same
// operations, saved and undone the same.
import { Camera } from "./camera";
import { grid, nearest } from "./geometry";
import { find } from "./keys";
import { Edits } from "./edits";
import { Edge } from "./model";
import { Point } from "./types";
import { View } from "./view";

export interface Desk {
  readonly view: View;
  readonly camera: Camera;
  readonly edits: Edits | undefined;
  readonly selection: Set<string>;
  focused: string | undefined;
  focusCard(card: string | undefined): void;
  focusEdge(edge: Edge | undefined): void;
  select(cards: Iterable<string>): void;
  openPanel(): void;
  condition(edge: Edge): void;
  addAfter(card: string | undefined): void;
  menuOf(card: string | undefined): void;
  cancelPointer(): boolean;
  step(event: KeyboardEvent): void; // to the next or previous card that failed
  run(act: string): void; // undo, redo, tidy, fit, zoom…
  say(text: string): void;
}

type Way = "left" | "right" | "up" | "down";

export class Keyboard {
  private source: string | undefined; // of a connection by keys
  private edge: Edge | undefined;
  private moving: Map<string, Point> | undefined;

  constructor(
    stage: HTMLElement,
    private desk: Desk,
  ) {
    stage.addEventListener("keydown", (event) => this.press(event));
  }

  private press(event: KeyboardEvent): void {
    const key = find(event);
    if (!key || (key.edits && !this.desk.edits)) return;
    const button = (event.target as Element).closest("button, a, input");
    if (button && (key.act === "open" || key.act === "toggle")) return;
    event.preventDefault();
    this.act(key.act, event);
  }

  private act(act: string, event: KeyboardEvent): void {
    const { desk } = this;
    const { focused, edits } = desk;
    switch (act) {
      case "arrow":
        return this.arrow(event.key.slice(5).toLowerCase() as Way, event.shiftKey);
      case "edge":
        return this.nextEdge(event.key === "]" ? 1 : -1);
      case "ends":
        return this.ends(event.key === "Home");
      case "open":
        return this.enter();
      case "cancel":
        return this.cancel();
      case "toggle": {
        if (!focused) return;
        const next = new Set(desk.selection);
        if (!next.delete(focused)) next.add(focused);
        desk.select(next);
        return desk.say(`${next.size} selected`);
      }
      case "all":
        desk.select(desk.view.cards.keys());
        return desk.say(`${desk.view.cards.size} selected`);
      case "connect":
        return this.connectFrom(focused);
      case "cut":
        if (this.edge) edits?.cut(this.edge);
        return this.leaveEdge();
      case "condition":
        if (this.edge) desk.condition(this.edge);
        return;
      case "add":
        return desk.addAfter(focused);
      case "move":
        return this.beginMove();
      case "delete":
        if (this.edge) {
          edits?.cut(this.edge);
          return this.leaveEdge();
        }
        return edits?.remove();
      case "heal":
        return edits?.heal();
      case "duplicate":
        return edits?.duplicate();
      case "rename":
        if (focused) edits?.rename(focused);
        return;
      case "disable":
        if (focused) edits?.disable(focused);
        return;
      case "menu":
        return desk.menuOf(focused);
      case "fallen":
        return desk.step(event);
      default:
        desk.run(act);
    }
  }

  private arrow(way: Way, far: boolean): void {
    const { desk } = this;
    if (this.moving) return this.nudge(way, far ? 5 * grid : grid);
    if (this.edge) {
      const end = way === "right" ? this.edge.to : way === "left" ? this.edge.from : undefined;
      this.leaveEdge();
      if (end) return this.go(end, false);
    }
    const from = desk.focused;
    if (!from) return desk.focusCard(desk.view.cards.keys().next().value);
    const near = nearest(desk.view.boxes.get(from)!, way, this.candidates(from, way));
    if (near) this.go(near, far);
  }

  // candidates prefers connected cards to the right and left.
  private candidates(from: string, way: Way) {
    const all = new Map([...this.desk.view.boxes].filter(([id]) => id !== from));
    if (way === "up" || way === "down") return all;
    const joined = [...this.desk.view.lines.values()].map(({ edge }) => (edge.from === from ? edge.to : edge.to === from ? edge.from : ""));
    const linked = new Map([...all].filter(([id]) => joined.includes(id)));
    return nearest(this.desk.view.boxes.get(from)!, way, linked) ? linked : all;
  }

  private go(card: string, extend: boolean): void {
    const { desk } = this;
    desk.focusCard(card);
    if (extend) desk.select(new Set([...desk.selection, card]));
    if (!this.source || this.source === card) return;
    const name = desk.view.cards.get(card)?.querySelector("[data-slot=name]")?.textContent ?? "";
    desk.say(desk.edits?.impossible(this.source).has(card) ? `${name}: not possible` : `${name}: Enter connects`);
  }

  private ends(first: boolean): void {
    const { view } = this.desk;
    const order = [...view.boxes].sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
    const card = (first ? order[0] : order[order.length - 1])?.[0];
    if (card) this.go(card, false);
  }

  private nextEdge(step: number): void {
    const { desk } = this;
    if (!desk.focused) return;
    const edges = desk.view.edgesOf(desk.focused);
    if (edges.length === 0) return desk.say("No edge leaves this card");
    const here = edges.findIndex((e) => e.key === this.edge?.key);
    this.edge = edges[(here + step + edges.length) % edges.length];
    desk.focusEdge(this.edge);
  }

  private leaveEdge(): void {
    this.edge = undefined;
    this.desk.focusEdge(undefined);
  }

  private enter(): void {
    const { desk } = this;
    if (this.moving) return this.drop();
    if (this.source && desk.focused) {
      const from = this.source;
      this.endConnect();
      if (desk.focused !== from) desk.edits?.connect(from, desk.focused);
      return;
    }
    if (!desk.focused) return;
    desk.select([desk.focused]);
    desk.openPanel();
  }

  private cancel(): void {
    const { desk } = this;
    if (desk.cancelPointer()) return;
    if (this.moving) {
      for (const [card, at] of this.moving) desk.view.place(card, at);
      this.moving = undefined;
      return desk.say("Back where it was");
    }
    if (this.source) {
      this.endConnect();
      return desk.say("Connecting cancelled");
    }
    if (this.edge) return this.leaveEdge();
    desk.select([]);
  }

  // connectFrom waits for the card that a line from this one leads to.
  connectFrom(card: string | undefined): void {
    const { desk } = this;
    if (!card || !desk.edits) return;
    desk.focusCard(card);
    this.source = card;
    const barred = desk.edits.impossible(this.source);
    for (const [id, card] of desk.view.cards) card.classList.toggle("barred", barred.has(id) && id !== this.source);
    desk.view.cards.get(this.source)?.classList.add("source");
    desk.say("Connecting: choose a card with the arrows, Enter connects, Escape cancels");
  }

  // connecting is the card from which a line is led by keys or taps.
  get connecting(): string | undefined {
    return this.source;
  }

  endConnect(): void {
    this.source = undefined;
    for (const card of this.desk.view.cards.values()) card.classList.remove("barred", "source");
  }

  private beginMove(): void {
    const { desk } = this;
    if (!desk.focused) return;
    const cards = desk.selection.has(desk.focused) ? desk.selection : [desk.focused];
    this.moving = new Map([...cards].map((card) => [card, { ...desk.view.boxes.get(card)! }]));
    desk.say("Moving: arrows move, Enter drops, Escape restores");
  }

  private nudge(way: Way, by: number): void {
    const [dx, dy] = { left: [-by, 0], right: [by, 0], up: [0, -by], down: [0, by] }[way] as [number, number];
    for (const card of this.moving!.keys()) {
      const box = this.desk.view.boxes.get(card)!;
      this.desk.view.place(card, { x: box.x + dx, y: box.y + dy });
    }
  }

  private drop(): void {
    const moved: Record<string, Point> = {};
    for (const card of this.moving!.keys()) {
      const { x, y } = this.desk.view.boxes.get(card)!;
      moved[card] = { x, y };
    }
    this.moving = undefined;
    this.desk.edits?.move(moved);
    this.desk.say("Moved");
  }
}
