// The map in the corner: every card and the part that is seen.
import { Camera } from "./camera";
import { Box, bounds } from "./geometry";
import { View } from "./view";

const svg = "http://www.w3.org/2000/svg";
const fewest = 6; // cards, below which a map helps nobody who sees all of them
const many = 200; // cards, above which the picture is drawn again only so often:
const rest = 250; // ms
const [width, height] = [154, 90]; // of the picture, as canvas.css has it

export class Minimap {
  private box: HTMLElement;
  private scale = 1;
  private all: Box = { x: 0, y: 0, w: 1, h: 1 }; // what the picture spans
  private due = false;
  private stale = true; // cards came, went or moved since the last picture
  private resting = false; // since a picture of many cards
  private cards: Box | undefined; // around all of them
  private drawn = new Map<string, { rect: SVGRectElement; as: string }>(); // by card
  // What is seen lies over the picture and not in it, so that looking elsewhere
  // does not paint every card of the map again.
  private seen = document.createElement("div");

  constructor(
    root: HTMLElement,
    private view: View,
    private camera: Camera,
  ) {
    this.box = root.querySelector(".minimap")!;
    this.seen.className = "seen";
    this.box.append(this.seen);
    this.box.addEventListener("pointerdown", (event) => {
      this.box.setPointerCapture(event.pointerId);
      this.go(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) this.go(event);
    });
  }

  // draw shows cards that have changed, look only where the reader looks.
  draw(): void {
    this.stale = true;
    this.look();
  }

  look(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.paint();
    });
  }

  private paint(): void {
    this.box.hidden = this.view.cards.size < fewest && this.whole();
    if (this.box.hidden) return;
    const map = this.box.querySelector("svg")!;
    if (this.stale && !this.resting) {
      this.redraw(map);
      this.cards = this.view.extent();
      this.stale = false;
      if (this.view.cards.size > many) this.pause();
    }
    const seen = this.camera.seen();
    const all = bounds(this.cards ? [this.cards, seen] : [seen])!;
    this.scale = Math.min(width / all.w, height / all.h);
    this.all = amid(all, width / this.scale, height / this.scale);
    const shown = `${this.all.x} ${this.all.y} ${this.all.w} ${this.all.h}`;
    if (map.getAttribute("viewBox") !== shown) map.setAttribute("viewBox", shown);
    this.seen.style.width = `${seen.w * this.scale}px`;
    this.seen.style.height = `${seen.h * this.scale}px`;
    this.seen.style.transform = `translate(${(seen.x - this.all.x) * this.scale}px,${(seen.y - this.all.y) * this.scale}px)`;
  }

  // whole says whether every card can be seen; else the map shows that there is more.
  private whole(): boolean {
    const all = this.view.extent();
    return !all || this.camera.shows(all);
  }

  private pause(): void {
    this.resting = true;
    setTimeout(() => {
      this.resting = false;
      if (this.stale) this.look();
    }, rest);
  }

  // redraw touches the cards of the map that differ from what it shows: a run
  // changes a few of thousands at a time.
  private redraw(map: SVGSVGElement): void {
    for (const [id, { rect }] of this.drawn) {
      if (this.view.boxes.has(id)) continue;
      rect.remove();
      this.drawn.delete(id);
    }
    for (const [id, box] of this.view.boxes) {
      const name = hue(this.view.cards.get(id));
      const as = `${box.x} ${box.y} ${box.w} ${box.h} ${name}`;
      const before = this.drawn.get(id);
      if (before?.as === as) continue;
      const rect = before?.rect ?? map.appendChild(document.createElementNS(svg, "rect"));
      place(rect, box, name);
      this.drawn.set(id, { rect, as });
    }
  }

  private go(event: PointerEvent): void {
    const corner = this.box.querySelector("svg")!.getBoundingClientRect();
    const x = this.all.x + (event.clientX - corner.left) / this.scale;
    const y = this.all.y + (event.clientY - corner.top) / this.scale;
    const m = this.camera.middle();
    this.camera.x = m.x - x * this.camera.k;
    this.camera.y = m.y - y * this.camera.k;
    this.camera.show();
  }
}

// amid is a box of that size with b in its middle.
function amid(b: Box, w: number, h: number): Box {
  return { x: b.x - (w - b.w) / 2, y: b.y - (h - b.h) / 2, w, h };
}

// hue is the colour of a card's state.
function hue(card?: HTMLElement): string {
  return ["ok", "run", "bad", "warn"].find((name) => card?.classList.contains(name)) ?? "";
}

function place(r: SVGRectElement, b: Box, name: string): void {
  const attributes = { x: b.x, y: b.y, width: b.w, height: b.h, rx: 12, class: name };
  for (const [key, value] of Object.entries(attributes)) r.setAttribute(key, String(value));
}
