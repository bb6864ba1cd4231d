// Where the reader looks: pan and zoom of the world in the stage.
import { Box, opening, whole, zoomRange } from "./geometry";
import { Point } from "./types";

export class Camera {
  x = 0;
  y = 0;
  k = 1;
  steered = false; // by the reader: from then on nothing else moves it
  // The size of the stage, told by its observer: asking for it after each move
  // would make the browser lay out the page in every frame.
  private w = 0;
  private h = 0;

  constructor(
    private stage: HTMLElement,
    private world: HTMLElement,
    private moved: () => void,
  ) {}

  resize(w: number, h: number): void {
    this.w = w;
    this.h = h;
  }

  // show writes the camera to the page. The grid is moved by its own property:
  // a custom property would restyle every card on each frame.
  show(): void {
    this.world.style.transform = `translate(${this.x}px,${this.y}px) scale(${this.k})`;
    // Dots that come too close to each other are thinned out.
    const step = 20 * this.k * (this.k < 0.5 ? 2 : 1) * (this.k < 0.25 ? 2 : 1);
    this.stage.style.backgroundSize = `${step}px ${step}px`;
    this.stage.style.backgroundPosition = `${this.x}px ${this.y}px`;
    this.stage.classList.toggle("far", this.far);
    this.stage.classList.toggle("farther", this.k < 0.25); // too small for a name
    this.moved();
  }

  pan(dx: number, dy: number): void {
    this.steered = true;
    this.x += dx;
    this.y += dy;
    this.show();
  }

  // zoom changes the scale about a point of the stage.
  zoom(factor: number, about: Point = this.middle()): void {
    this.steered = true;
    const k = Math.min(Math.max(this.k * factor, zoomRange.least), zoomRange.most);
    this.x = about.x - ((about.x - this.x) * k) / this.k;
    this.y = about.y - ((about.y - this.y) * k) / this.k;
    this.k = k;
    this.show();
  }

  // far is where cards are too small for their words.
  get far(): boolean {
    return this.k < 0.35;
  }

  fit(box: Box | undefined): void {
    this.steered = true;
    this.whole(box);
    this.show();
  }

  private whole(box: Box | undefined): void {
    if (box) Object.assign(this, whole(this.w, this.h, box) ?? {});
  }

  // begin is the first look.
  begin(box: Box | undefined, first: Box | undefined): void {
    if (box && first) Object.assign(this, opening(this.w, this.h, box, first) ?? {});
    this.show();
  }

  // shows says whether the whole of box can be seen.
  shows(box: Box): boolean {
    const [left, top] = [box.x * this.k + this.x, box.y * this.k + this.y];
    return left >= 0 && top >= 0 && left + box.w * this.k <= this.w && top + box.h * this.k <= this.h;
  }

  // reveal pans just far enough that box can be seen; anew also draws where nothing moves.
  reveal(box: Box, anew = false): void {
    const edge = 24;
    const left = box.x * this.k + this.x;
    const top = box.y * this.k + this.y;
    const { w, h } = this;
    const dx = Math.max(edge - left, 0) || Math.min(w - edge - (left + box.w * this.k), 0);
    const dy = Math.max(edge - top, 0) || Math.min(h - edge - (top + box.h * this.k), 0);
    if (dx || dy) this.pan(dx, dy);
    else if (anew) this.show();
  }

  middle(): Point {
    return { x: this.w / 2, y: this.h / 2 };
  }

  // at is the point of the stage under a pointer, toWorld the point of the graph.
  at(event: { clientX: number; clientY: number }): Point {
    const box = this.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
  toWorld(p: Point): Point {
    return { x: (p.x - this.x) / this.k, y: (p.y - this.y) / this.k };
  }
  seen(): Box {
    const { x, y } = this.toWorld({ x: 0, y: 0 });
    return { x, y, w: this.w / this.k, h: this.h / this.k };
  }
}
