// A graph that is too large to be sent as markup: its cards, lines and pills are
// made here from the templates of the page, so that there stands what the server
// draws of a smaller one (views/canvas/packed.go). Most of it is out of sight at
// any time. There a card is a box with its name, for who searches the page or has
// it read, and a line or pill is not there at all: each is made when it comes near
// what is seen, and stays (docs/adr/0031).
import { bounds, Box, size, touches } from "./geometry";
import { between } from "./line";
import { Data, PackedCard, PackedEdge } from "./types";
import { kinds, Line, stateWord } from "./view";

const svg = "http://www.w3.org/2000/svg";
const near = 240; // px of the world around what is seen

type Signs = NonNullable<Data["signs"]>;

// Blank is a card without its inside, and what that will say.
interface Blank {
  box: Box;
  inside: DocumentFragment;
  words: Record<string, string>;
  icons: Record<string, string>;
}

// Away is a line that is not in the page yet.
interface Away {
  line: Line;
  box: Box;
  pill?: () => HTMLElement;
}

export class Packed {
  readonly lines: Line[] = [];
  private blanks = new Map<HTMLElement, Blank>();
  private away: Away[] = [];
  private unlabelled: Away[] = []; // their line is there, and their pill is not

  constructor(
    private root: HTMLElement,
    graph: NonNullable<Data["packed"]>,
    signs: Signs,
  ) {
    const insides: Record<string, DocumentFragment> = { node: this.inside("node"), start: this.inside("start"), gate: this.inside("gate") };
    const cards = new DocumentFragment();
    for (const c of graph.cards) cards.append(this.card(c, insides[c.shape ?? "node"]!, signs));
    root.querySelector(".nodes")!.append(cards);
    const pill = root.querySelector<HTMLTemplateElement>("template[data-pill-template]")!.content.firstElementChild as HTMLElement;
    for (const e of graph.edges) this.line(e, graph.cards[e.from]!, graph.cards[e.to]!, pill);
  }

  // look makes what is near the part that is seen. What is far away is too small
  // for words.
  look(seen: Box, far: boolean): void {
    const around = { x: seen.x - near, y: seen.y - near, w: seen.w + 2 * near, h: seen.h + 2 * near };
    this.away = this.away.filter((a) => {
      if (!touches(a.box, around)) return true;
      this.root.querySelector("svg.edges")!.append(a.line.hit, a.line.path);
      if (a.pill) this.unlabelled.push(a);
      return false;
    });
    if (far) return;
    this.unlabelled = this.unlabelled.filter((a) => {
      if (!touches(a.box, around)) return true;
      a.line.pill = a.pill!();
      this.root.querySelector(".pills")!.append(a.line.pill);
      return false;
    });
    for (const [card, { box }] of this.blanks) if (touches(box, around)) this.fill(card);
  }

  // fill gives a card its inside.
  fill(card: HTMLElement): void {
    const blank = this.blanks.get(card);
    if (!blank) return;
    this.blanks.delete(card);
    const name = card.querySelector("[data-slot=name]")!;
    const aside = card.querySelector("[data-slot=aside]")!;
    const words = { ...blank.words, name: name.textContent!, aside: aside.textContent! };
    name.remove();
    aside.remove();
    card.classList.remove("blank");
    card.prepend(blank.inside.cloneNode(true));
    for (const [slot, text] of Object.entries(words)) {
      const element = card.querySelector<HTMLElement>(`[data-slot="${slot}"]`);
      if (!element) continue;
      element.textContent = text;
      if (slot === "name" || slot === "sub") element.title = text;
    }
    for (const [where, icon] of Object.entries(blank.icons)) {
      const use = card.querySelector(`${where} use`);
      use?.setAttribute("href", use.getAttribute("href")!.replace(/#.*$/, `#${icon}`));
    }
  }

  // keep remembers what a card will say, and reports whether it is one that waits.
  keep(card: HTMLElement, of: "words" | "icons", name: string, what: string): boolean {
    const blank = this.blanks.get(card);
    if (blank) blank[of][name] = what;
    return !!blank;
  }

  private inside(name: string): DocumentFragment {
    const inside = new DocumentFragment();
    const blank = this.root.querySelector<HTMLTemplateElement>(`template[data-card="${name}"]`)!.content.firstElementChild!;
    inside.append(...blank.cloneNode(true).childNodes);
    return inside;
  }

  private card(c: PackedCard, inside: DocumentFragment, signs: Signs): HTMLElement {
    const sign = signs[c.state] ?? { icon: "circle-dashed", word: c.state, hue: "idle" };
    const shell = this.root.querySelector<HTMLTemplateElement>(`template[data-card="${c.shape ?? "node"}"]`)!.content.firstElementChild!.cloneNode() as HTMLElement;
    shell.id = `node-${c.key}`;
    shell.classList.add(sign.hue, "blank");
    shell.classList.toggle("off", !!c.off);
    Object.assign(shell.dataset, { id: c.key, kind: c.kind, x: c.at[0], y: c.at[1], status: c.state });
    if (c.started) shell.dataset["started"] = c.started;
    if (c.ended) shell.dataset["ended"] = c.ended;
    if (c.kept) shell.dataset["kept"] = "yes";
    shell.style.transform = `translate(${c.at[0]}px,${c.at[1]}px)`;
    const sub = c.sub ?? sign.word;
    shell.append(slot("b", "name", c.name), slot("span", "aside", `, ${kinds[c.kind] ?? c.kind}, ${c.said ?? stateWord(c.kind, c.state, sign.word)}, ${c.before ?? 0} before, ${c.after ?? 0} after`));
    const words = { sub, note: c.note ?? "", fact: c.fact ?? "" };
    this.blanks.set(shell, { box: box(c), inside, words, icons: { ".picture": c.icon, ".mark": c.mark ?? sign.icon } });
    return shell;
  }

  private line(e: PackedEdge, from: PackedCard, to: PackedCard, pill: HTMLElement): void {
    const { d, middle, tight } = between(box(from), box(to));
    const key = e.key ?? `${e.trigger ?? from.key}>${to.key}`;
    const [hit, path] = paths(e, key, from.key, to.key, d);
    const line: Line = { path, hit, edge: { key, from: from.key, to: to.key, trigger: e.trigger, state: e.state } };
    this.lines.push(line);
    const make = () => {
      const word = pill.cloneNode() as HTMLElement;
      word.className = `cond ${e.state ?? ""}`;
      word.dataset["pill"] = key;
      if (e.title) word.title = e.title;
      word.textContent = e.word!;
      word.style.transform = `translate(${middle.x}px,${middle.y}px) translate(-50%,-50%)`;
      word.toggleAttribute("data-tight", tight);
      return word;
    };
    this.away.push({ line, box: bounds([box(from), box(to)])!, pill: e.word ? make : undefined });
  }
}

const box = (c: PackedCard): Box => ({ x: c.at[0], y: c.at[1], ...size(c.shape ? "small" : "node") });

function slot(element: string, name: string, text: string): HTMLElement {
  const made = document.createElement(element);
  made.dataset["slot"] = name;
  made.textContent = text;
  if (name === "aside") made.className = "sr";
  else made.title = text;
  return made;
}

function paths(e: PackedEdge, key: string, from: string, to: string, d: string): [SVGPathElement, SVGPathElement] {
  const hit = document.createElementNS(svg, "path");
  hit.setAttribute("class", "hit");
  hit.dataset["hit"] = key;
  const path = document.createElementNS(svg, "path");
  path.setAttribute("class", `edge${e.taken ? " taken" : ""}${e.back ? " back" : ""}`);
  Object.assign(path.dataset, { id: key, s: from, t: to });
  if (e.trigger) path.dataset["trigger"] = e.trigger;
  if (e.state) path.dataset["state"] = e.state;
  hit.setAttribute("d", d);
  path.setAttribute("d", d);
  return [hit, path];
}
