// A graph that is too large to be sent as markup: its cards, lines and pills are
// made here from the templates of the page, so that there stands what the server
// draws of a smaller one (views/canvas/packed.go).
import { between } from "./line";
import { size } from "./geometry";
import { Data, PackedCard, PackedEdge } from "./types";
import { kinds } from "./view";

const svg = "http://www.w3.org/2000/svg";

export function unpack(root: HTMLElement, data: Data): void {
  const { packed, signs = {} } = data;
  if (!packed) return;
  const blank = (name: string) => root.querySelector<HTMLTemplateElement>(`template[data-card="${name}"]`)!.content.firstElementChild as HTMLElement;
  const blanks: Record<string, HTMLElement> = { node: blank("node"), start: blank("start"), gate: blank("gate") };
  const cards = new DocumentFragment();
  for (const c of packed.cards) cards.append(card(blanks[c.shape ?? "node"]!.cloneNode(true) as HTMLElement, c, signs));
  root.querySelector(".nodes")!.append(cards);

  const pill = root.querySelector<HTMLTemplateElement>("template[data-pill-template]")!.content.firstElementChild as HTMLElement;
  const lines = new DocumentFragment();
  const pills = new DocumentFragment();
  for (const e of packed.edges) {
    const [from, to] = [packed.cards[e.from]!, packed.cards[e.to]!];
    const { d, middle, tight } = between(box(from), box(to));
    const key = e.key ?? `${e.trigger ?? from.key}>${to.key}`;
    lines.append(...line(e, key, from.key, to.key, d));
    if (!e.word) continue;
    const word = pill.cloneNode() as HTMLElement;
    word.className = `cond ${e.state ?? ""}`;
    word.dataset["pill"] = key;
    if (e.title) word.title = e.title;
    word.textContent = e.word;
    word.style.transform = `translate(${middle.x}px,${middle.y}px) translate(-50%,-50%)`;
    word.toggleAttribute("data-tight", tight);
    pills.append(word);
  }
  root.querySelector("svg.edges")!.append(lines);
  root.querySelector(".pills")!.append(pills);
}

const box = (c: PackedCard) => ({ x: c.at[0], y: c.at[1], ...size(c.shape ? "small" : "node") });

function card(into: HTMLElement, c: PackedCard, signs: NonNullable<Data["signs"]>): HTMLElement {
  const sign = signs[c.state] ?? { icon: "circle-dashed", word: c.state, hue: "idle" };
  into.id = `node-${c.key}`;
  into.classList.add(sign.hue);
  into.classList.toggle("off", !!c.off);
  Object.assign(into.dataset, { id: c.key, kind: c.kind, x: c.at[0], y: c.at[1], status: c.state });
  if (c.started) into.dataset["started"] = c.started;
  if (c.ended) into.dataset["ended"] = c.ended;
  if (c.kept) into.dataset["kept"] = "yes";
  into.style.transform = `translate(${c.at[0]}px,${c.at[1]}px)`;
  const sub = c.sub ?? sign.word;
  const aside = `, ${kinds[c.kind] ?? c.kind}, ${c.marked ? sub : sign.word}, ${c.before ?? 0} before, ${c.after ?? 0} after`;
  for (const [slot, text] of Object.entries({ name: c.name, sub, note: c.note ?? "", fact: c.fact ?? "", aside })) {
    const element = into.querySelector<HTMLElement>(`[data-slot="${slot}"]`);
    if (!element) continue;
    element.textContent = text;
    if (slot === "name" || slot === "sub") element.title = text;
  }
  icon(into, ".picture", c.icon);
  icon(into, ".mark", c.marked ? "hand" : sign.icon);
  return into;
}

function icon(card: HTMLElement, where: string, name: string): void {
  const use = card.querySelector(`${where} use`);
  use?.setAttribute("href", use.getAttribute("href")!.replace(/#.*$/, `#${name}`));
}

function line(e: PackedEdge, key: string, from: string, to: string, d: string): SVGPathElement[] {
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
