// Sizes and places; the same numbers as engine/graph.
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
