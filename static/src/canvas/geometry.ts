// Sizes, lines and places; the same numbers as engine/graph and views/canvas.
import { Point } from "./types";

export const grid = 10;
export const size = (shape: string) => (shape === "node" ? { w: 190, h: 76 } : { w: 150, h: 56 });
export const zoomRange = { least: 0.1, most: 2 };

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

// line is the path of an edge with its arrow head.
export function line(x1: number, y1: number, x2: number, y2: number): string {
  const { bend, dip } = bends(x1, x2);
  return `M${x1} ${y1}C${x1 + bend} ${y1 + dip} ${x2 - bend} ${y2 + dip} ${x2} ${y2}M${x2 - 7} ${y2 - 4}L${x2 - 1} ${y2}L${x2 - 7} ${y2 + 4}`;
}

// middle is the point half way along it.
export function middle(x1: number, y1: number, x2: number, y2: number): Point {
  return { x: Math.trunc((x1 + x2) / 2), y: Math.trunc((y1 + y2) / 2) + (bends(x1, x2).dip * 3) / 4 };
}

// bends says how far a line runs straight out of its card, and how deep it bows
// to pass under the cards where it leads back to the left.
function bends(x1: number, x2: number): { bend: number; dip: number } {
  if (x2 < x1 - 2 * grid) return { bend: 120, dip: 160 };
  return { bend: Math.max(40, Math.trunc((x2 - x1) / 2)), dip: 0 };
}

export function between(from: Box, to: Box): { d: string; middle: Point } {
  const ends = [from.x + from.w, from.y + from.h / 2, to.x, to.y + to.h / 2] as const;
  return { d: line(...ends), middle: middle(...ends) };
}

// tight says that the word of an edge would cover what stands at its ends.
export function tight(from: Box, to: Box): boolean {
  const wide = to.x - from.x - from.w;
  return wide >= 0 && wide < 100 && Math.abs(to.y + to.h / 2 - from.y - from.h / 2) < 60;
}

// gap is how far a point is from the line between two cards.
export function gap(from: Box, to: Box, p: Point): number {
  const [x1, y1, x2, y2] = [from.x + from.w, from.y + from.h / 2, to.x, to.y + to.h / 2];
  const { bend, dip } = bends(x1, x2);
  const steps = 24;
  let least = Infinity;
  for (let i = 0; i <= steps; i++) {
    const t = i / steps;
    const u = 1 - t;
    const along = (a: number, b: number, c: number, d: number) => u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
    least = Math.min(least, Math.hypot(along(x1, x1 + bend, x2 - bend, x2) - p.x, along(y1, y1 + dip, y2 + dip, y2) - p.y));
  }
  return least;
}

export const snap = (p: Point): Point => ({ x: Math.round(p.x / grid) * grid, y: Math.round(p.y / grid) * grid });

export const touches = (a: Box, b: Box): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

export function bounds(boxes: Iterable<Box>): Box | undefined {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const b of boxes) {
    left = Math.min(left, b.x);
    top = Math.min(top, b.y);
    right = Math.max(right, b.x + b.w);
    bottom = Math.max(bottom, b.y + b.h);
  }
  return left === Infinity ? undefined : { x: left, y: top, w: right - left, h: bottom - top };
}

// freeSpot moves a box down until it covers nothing.
export function freeSpot(box: Box, others: Box[]): Point {
  const at = { ...box };
  while (others.some((o) => touches(at, o))) at.y += grid;
  return { x: at.x, y: at.y };
}

// nearest is the box in a direction that a reader would call next: close, and
// not far to the side.
export function nearest(from: Box, way: "left" | "right" | "up" | "down", boxes: Map<string, Box>): string | undefined {
  const centre = (b: Box) => ({ x: b.x + b.w / 2, y: b.y + b.h / 2 });
  const here = centre(from);
  let best: string | undefined;
  let least = Infinity;
  for (const [name, box] of boxes) {
    const c = centre(box);
    const along = { left: here.x - c.x, right: c.x - here.x, up: here.y - c.y, down: c.y - here.y }[way];
    const aside = way === "left" || way === "right" ? Math.abs(c.y - here.y) : Math.abs(c.x - here.x);
    const cost = along + 2 * aside;
    if (along > 1 && cost < least) [best, least] = [name, cost];
  }
  return best;
}
