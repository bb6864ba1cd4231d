// The drawing: adopts the cards and edges that the server rendered and keeps
// them equal to the model. It touches only what changed.
import { Box, bounds, size } from "./geometry";
import { between as lineBetween, gap } from "./line";
import { conditions, Drawn, Edge, Graph } from "./model";
import { Packed } from "./packed";
import { Body, Info, Point, Trigger } from "./types";

export interface Line {
  path: SVGPathElement;
  hit: SVGPathElement;
  pill?: HTMLElement;
  edge: Edge;
}

// kinds are what a screen reader hears of a card, as views/canvas says it.
export const kinds: Record<string, string> = {
  on_demand: "Trigger, on demand",
  scheduled: "Trigger, by schedule",
  event: "Trigger, by events",
  conditional: "Condition",
  job: "Job",
  crawler: "Crawler",
};

const turns: Record<string, string> = { succeeded: "Fired", skipped: "Did not fire" };

// stateWord is what the state of a card is called: of a trigger as views/show says it.
export function stateWord(kind: string, state: string, word: string): string {
  return kind === "job" || kind === "crawler" ? word : (turns[state] ?? word);
}

const svg = "http://www.w3.org/2000/svg";

export class View {
  readonly cards = new Map<string, HTMLElement>();
  readonly boxes = new Map<string, Box>();
  readonly lines = new Map<string, Line>();
  private touching = new Map<string, Set<string>>(); // card -> keys of its edges
  private list: HTMLElement;
  private edges: SVGSVGElement;
  private pills: HTMLElement;

  constructor(
    private root: HTMLElement,
    private words: Record<string, string>,
    private packed?: Packed,
  ) {
    this.list = root.querySelector(".nodes")!;
    this.edges = root.querySelector("svg.edges")!;
    this.pills = root.querySelector(".pills")!;
    this.adopt();
  }

  // adopt reads what the server drew, once.
  private adopt(): void {
    for (const card of this.list.querySelectorAll<HTMLElement>(":scope > li")) this.adoptCard(card);
    const pills = new Map<string, HTMLElement>();
    for (const pill of this.pills.querySelectorAll<HTMLElement>("[data-pill]")) pills.set(pill.dataset["pill"]!, pill);
    for (const path of this.edges.querySelectorAll<SVGPathElement>("path.edge")) {
      const { id = "", s = "", t = "", trigger, state } = path.dataset;
      const edge = { key: id, from: s, to: t, trigger: trigger || undefined, state: state || undefined };
      this.keep({ path, hit: path.previousElementSibling as SVGPathElement, pill: pills.get(id), edge });
    }
    for (const line of this.packed?.lines ?? []) this.keep(line);
  }

  // look makes what comes into sight.
  look(seen: Box, far: boolean): void {
    this.packed?.look(seen, far);
  }

  // come makes the inside of a card that is about to be seen.
  come(id: string): void {
    const card = this.cards.get(id);
    if (card) this.packed?.fill(card);
  }

  private adoptCard(card: HTMLElement): void {
    const id = card.dataset["id"]!;
    const shape = card.classList.contains("start") || card.classList.contains("gate") ? "small" : "node";
    this.cards.set(id, card);
    this.boxes.set(id, { x: Number(card.dataset["x"]), y: Number(card.dataset["y"]), ...size(shape) });
  }

  private keep(line: Line): void {
    this.lines.set(line.edge.key, line);
    for (const card of [line.edge.from, line.edge.to]) {
      if (!this.touching.has(card)) this.touching.set(card, new Set());
      this.touching.get(card)!.add(line.edge.key);
    }
  }

  // draw makes the drawing equal to body, of which graph is the graph.
  draw(graph: Graph, body: Body, infos: Record<string, Info>): void {
    const cards = graph.drawn();
    const wanted = new Set(cards.map((c) => c.key));
    for (const [id, card] of this.cards) if (!wanted.has(id)) this.dropCard(id, card);
    for (const card of cards) this.drawCard(card, graph, body, infos);
    const edges = graph.edges();
    const lines = new Set(edges.map((e) => e.key));
    for (const [id, line] of this.lines) if (!lines.has(id)) this.dropLine(id, line);
    for (const edge of edges) this.drawLine(edge, graph);
    const empty = this.root.querySelector<HTMLElement>(".start-here");
    if (empty) empty.hidden = cards.length > 0;
  }

  private dropCard(id: string, card: HTMLElement): void {
    card.remove();
    this.cards.delete(id);
    this.boxes.delete(id);
  }

  private dropLine(id: string, line: Line): void {
    for (const part of [line.path, line.hit, line.pill]) part?.remove();
    this.lines.delete(id);
    for (const card of [line.edge.from, line.edge.to]) this.touching.get(card)?.delete(id);
  }

  private drawCard(drawn: Drawn, graph: Graph, body: Body, infos: Record<string, Info>): void {
    let card = this.cards.get(drawn.key);
    const trigger = graph.triggers.get(drawn.key);
    if (!card) {
      card = this.clone(`[data-card="${drawn.shape}"]`);
      card.id = `node-${drawn.key}`;
      Object.assign(card.dataset, { id: drawn.key, kind: drawn.kind });
      this.list.append(card);
      this.cards.set(drawn.key, card);
      this.boxes.set(drawn.key, { x: 0, y: 0, ...size(drawn.shape) });
      this.icon(card, trigger ? triggerIcon(trigger) : (infos[drawn.key]?.icon ?? "triangle-alert"));
    }
    if (trigger) {
      card.classList.toggle("off", !!trigger.disabled);
      const info = infos[drawn.key];
      this.fill(card, { name: trigger.name, sub: triggerSub(trigger, info) });
      if (offInDraft(trigger, info)) card.querySelector<HTMLElement>("[data-slot=sub]")!.title = `Version ${info!.fires} still fires until you publish, or turn it off now.`;
    } else {
      const info = infos[drawn.key];
      if (info) this.fill(card, { name: info.name, sub: info.sub, note: info.note, fact: info.fact });
    }
    const aside = `, ${kinds[drawn.kind] ?? drawn.kind}, ${graph.before(drawn.key).length} before, ${graph.after(drawn.key).length} after`;
    this.fill(card, { aside });
    const at = body.layout?.[drawn.key];
    if (at) this.place(drawn.key, at);
  }

  private clone(template: string): HTMLElement {
    const source = this.root.querySelector<HTMLTemplateElement>(`template${template}`)!;
    return source.content.firstElementChild!.cloneNode(true) as HTMLElement;
  }

  // fill writes the words of a card.
  fill(card: HTMLElement, words: Record<string, string | undefined>): void {
    for (const [slot, text = ""] of Object.entries(words)) {
      const element = card.querySelector<HTMLElement>(`[data-slot="${slot}"]`);
      if (!element) this.packed?.keep(card, "words", slot, text);
      if (!element || element.textContent === text) continue;
      element.textContent = text;
      if (slot === "name" || slot === "sub") element.title = text;
    }
  }

  // state says to a screen reader how a card of a run stands now, between what it is
  // and what is around it, which stay.
  state(card: HTMLElement, word: string): void {
    const around = card.querySelector("[data-slot=aside]")?.textContent?.match(/, \d+ before, \d+ after$/)?.[0] ?? "";
    const kind = card.dataset["kind"] ?? "";
    this.fill(card, { aside: `, ${kinds[kind] ?? kind}, ${word}${around}` });
  }

  icon(card: HTMLElement, name: string, where = ".picture"): void {
    if (this.packed?.keep(card, "icons", where, name)) return;
    const use = card.querySelector(`${where} use`);
    const address = use?.getAttribute("href");
    if (address) use?.setAttribute("href", address.replace(/#.*$/, `#${name}`));
  }

  // place moves a card and the ends of its edges.
  place(id: string, at: Point): void {
    const box = this.boxes.get(id);
    const card = this.cards.get(id);
    if (!box || !card) return;
    if (box.x === at.x && box.y === at.y && card.style.transform) return;
    box.x = at.x;
    box.y = at.y;
    card.style.transform = `translate(${at.x}px,${at.y}px)`;
    card.dataset["x"] = String(at.x);
    card.dataset["y"] = String(at.y);
    for (const line of this.touching.get(id) ?? []) this.route(this.lines.get(line)!);
  }

  private drawLine(edge: Edge, graph: Graph): void {
    let line = this.lines.get(edge.key);
    if (line && (line.edge.from !== edge.from || line.edge.to !== edge.to)) {
      this.dropLine(edge.key, line);
      line = undefined;
    }
    if (!line) {
      const hit = document.createElementNS(svg, "path");
      const path = document.createElementNS(svg, "path");
      hit.setAttribute("class", "hit");
      hit.dataset["hit"] = edge.key;
      path.setAttribute("class", "edge");
      Object.assign(path.dataset, { id: edge.key, s: edge.from, t: edge.to, trigger: edge.trigger ?? "" });
      this.edges.append(hit, path);
      line = { hit, path, edge };
      this.keep(line);
      this.route(line);
    }
    line.edge = edge;
    this.drawPill(line, graph);
  }

  private drawPill(line: Line, graph: Graph): void {
    const { key, state, trigger, from } = line.edge;
    line.path.dataset["state"] = state ?? "";
    const fromNode = !graph.triggers.has(from);
    if (!state || !fromNode || (!trigger && state === "succeeded")) {
      line.pill?.remove();
      line.pill = undefined;
      return;
    }
    if (!line.pill) {
      line.pill = this.clone("[data-pill-template]");
      line.pill.dataset["pill"] = key;
      this.pills.append(line.pill);
      this.route(line);
    }
    line.pill.className = `cond ${state}`;
    line.pill.textContent = this.words[state] ?? state;
    line.pill.title = trigger ? (graph.triggers.get(trigger)?.name ?? "") : "";
  }

  private route(line: Line): void {
    const from = this.boxes.get(line.edge.from);
    const to = this.boxes.get(line.edge.to);
    if (!from || !to) return;
    const { d, middle, tight } = lineBetween(from, to);
    line.path.setAttribute("d", d);
    line.hit.setAttribute("d", d);
    if (!line.pill) return;
    line.pill.style.transform = `translate(${middle.x}px,${middle.y}px) translate(-50%,-50%)`;
    line.pill.toggleAttribute("data-tight", tight);
  }

  middle(key: string): Point | undefined {
    const line = this.lines.get(key);
    const from = line && this.boxes.get(line.edge.from);
    const to = line && this.boxes.get(line.edge.to);
    return from && to && lineBetween(from, to).middle;
  }

  // edgeNear is the edge under a point of the world, or the closest within reach.
  edgeNear(at: Point, reach: number): Edge | undefined {
    let best: Edge | undefined;
    let least = reach;
    for (const { edge } of this.lines.values()) {
      const [from, to] = [this.boxes.get(edge.from), this.boxes.get(edge.to)];
      if (!from || !to) continue;
      const away = gap(from, to, at);
      if (away <= least) [best, least] = [edge, away];
    }
    return best;
  }

  // edgesOf lists the edges that leave a card.
  edgesOf(card: string): Edge[] {
    return [...(this.touching.get(card) ?? [])].map((key) => this.lines.get(key)!.edge).filter((e) => e.from === card);
  }

  // wire is a line from a card to wherever a pointer is.
  wire(from: string): { to(at: Point, refused: boolean): void; remove(): void } {
    const path = document.createElementNS(svg, "path");
    this.edges.append(path);
    const box = this.boxes.get(from)!;
    return {
      to: (at, refused) => {
        path.setAttribute("class", refused ? "wire stop" : "wire");
        path.setAttribute("d", lineBetween(box, { ...at, w: 0, h: 0 }).d);
      },
      remove: () => path.remove(),
    };
  }

  // light marks cards and the edges between them for a moment.
  light(way: string[]): void {
    const parts: Element[] = [];
    for (const card of way) if (this.cards.has(card)) parts.push(this.cards.get(card)!);
    for (let i = 0; i + 1 < way.length; i++) {
      const [a, b, c] = [way[i], way[i + 1], way[i + 2]];
      for (const { edge, path } of this.lines.values()) {
        if (edge.from === a && (edge.to === b || (edge.trigger === b && edge.to === c))) parts.push(path);
      }
    }
    for (const part of parts) part.classList.add("lit");
    setTimeout(() => parts.forEach((part) => part.classList.remove("lit")), 1500);
  }

  extent(): Box | undefined {
    return bounds(this.boxes.values());
  }

  // first is a card at the left end of the graph, the one nearest to its middle.
  first(): Box | undefined {
    const all = this.extent();
    if (!all) return undefined;
    const away = (b: Box) => Math.abs(b.y + b.h / 2 - all.y - all.h / 2);
    return [...this.boxes.values()].filter((b) => b.x < all.x + b.w).sort((a, b) => away(a) - away(b))[0];
  }
}

export function triggerIcon(t: Trigger): string {
  return { on_demand: "mouse-pointer-click", scheduled: "calendar-clock", event: "zap", conditional: "git-merge" }[t.type];
}

// offInDraft says that a trigger is off here, and fires as it is published.
function offInDraft(t: Trigger, info?: Info): boolean {
  return !!t.disabled && !!info?.fires;
}

export function triggerSub(t: Trigger, info?: Info): string {
  if (offInDraft(t, info)) return "Off in the draft";
  if (t.disabled && t.type !== "on_demand") return "Off";
  if (t.type === "on_demand") return "On demand";
  // Only the server can say a schedule or a rule of events in words.
  if (t.type === "scheduled") return info?.sub || t.zone || "UTC";
  if (t.type === "event") return info?.sub || "By events";
  const n = conditions(t).length;
  if (n === 0) return "Waits for nothing yet";
  if (n === 1) return "Starts nothing yet";
  return t.predicate?.logic === "any" ? `Any of ${n}` : `All of ${n}`;
}

