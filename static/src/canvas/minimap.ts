// The map in the corner: every card and the part that is seen.
import { Camera } from "./camera";
import { Box, bounds } from "./geometry";
import { View } from "./view";

const svg = "http://www.w3.org/2000/svg";
const fewest = 6; // cards, below which a map helps nobody

export class Minimap {
  private box: HTMLElement;
  private scale = 1;
  private all: Box = { x: 0, y: 0, w: 1, h: 1 };
  private due = false;

  constructor(
    root: HTMLElement,
    private view: View,
    private camera: Camera,
  ) {
    this.box = root.querySelector(".minimap")!;
    this.box.addEventListener("pointerdown", (event) => {
      this.box.setPointerCapture(event.pointerId);
      this.go(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) this.go(event);
    });
  }

  draw(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.paint();
    });
  }

  private paint(): void {
    this.box.hidden = this.view.cards.size < fewest;
    if (this.box.hidden) return;
    const seen = this.camera.seen();
    this.all = bounds([...this.view.boxes.values(), seen])!;
    const { clientWidth: w, clientHeight: h } = this.box;
    this.scale = Math.min(w / this.all.w, h / this.all.h);
    const map = this.box.querySelector("svg")!;
    map.setAttribute("viewBox", `${this.all.x} ${this.all.y} ${w / this.scale} ${h / this.scale}`);
    const parts = [...this.view.boxes].map(([id, b]) => rect(b, hue(this.view.cards.get(id))));
    map.replaceChildren(...parts, rect(seen, "seen"));
  }

  private go(event: PointerEvent): void {
    const corner = this.box.getBoundingClientRect();
    const x = this.all.x + (event.clientX - corner.left) / this.scale;
    const y = this.all.y + (event.clientY - corner.top) / this.scale;
    const m = this.camera.middle();
    this.camera.x = m.x - x * this.camera.k;
    this.camera.y = m.y - y * this.camera.k;
    this.camera.show();
  }
}

// hue is the colour of a card's state.
function hue(card?: HTMLElement): string {
  return ["ok", "run", "bad", "warn"].find((name) => card?.classList.contains(name)) ?? "";
}

function rect(b: Box, name: string): SVGRectElement {
  const r = document.createElementNS(svg, "rect");
  for (const [key, value] of Object.entries({ x: b.x, y: b.y, width: b.w, height: b.h, rx: 12 })) r.setAttribute(key, String(value));
  r.setAttribute("class", name);
  return r;
}
