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

// freeSpot moves a box down until it covers nothing, and stands so far from everything.
export function freeSpot(box: Box, others: Box[], apart = 0): Point {
  const at = { x: box.x - apart, y: box.y - apart, w: box.w + 2 * apart, h: box.h + 2 * apart };
  while (others.some((o) => touches(at, o))) at.y += grid;
  return { x: at.x + apart, y: at.y + apart };
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

// Look is where a camera stands: the place of the world's corner in the stage, and
// its scale.
export interface Look {
  x: number;
  y: number;
  k: number;
}

const edge = 40; // beside what is shown whole, 30 above it
const bar = 62; // the toolbar at the foot of the stage, under which nothing is put
const readable = 0.85; // the scale below which words are too small to read with ease,
const legible = 0.55; // and the one below which they cannot be read,
const near = 0.5; // which is less on a phone: it is held closer, and its dots are finer
const phone = 480; // the widest stage of one

// whole shows all of box in a stage of that size; nothing where there is no stage.
export function whole(w: number, h: number, box: Box): Look | undefined {
  if (w === 0) return undefined;
  const k = Math.min(Math.max(Math.min((w - 2 * edge) / box.w, (h - bar - 40) / box.h), zoomRange.least), 1);
  return { k, x: (w - box.w * k) / 2 - box.x * k, y: (h - bar + 20 - box.h * k) / 2 - box.y * k };
}

// opening is the first look at a graph: all of it, where that can be read with ease.
// Where it is only too long, its beginning is shown so large that it can be; where it is
// too high as well, as large as its height allows, or if nobody could read that, the
// card it begins with.
export function opening(w: number, h: number, box: Box, first: Box): Look | undefined {
  const all = whole(w, h, box);
  if (!all || all.k >= readable) return all;
  const room = h - bar; // above the toolbar
  const high = Math.min((room - 32) / box.h, readable);
  const least = w <= phone ? near : legible;
  if (high < readable && all.k >= least) return all;
  const begin = high >= least ? box : first;
  const k = high >= least ? high : 0.7;
  const beside = (w - begin.w * k) / 2;
  const left = beside < 0 ? 24 : Math.min(beside, 24); // what just fits is not cut for its edge
  return { k, x: left - begin.x * k, y: (room + 16) / 2 - (begin.y + begin.h / 2) * k };
}
