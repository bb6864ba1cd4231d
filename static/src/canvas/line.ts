// How edges run; the same numbers as views/canvas/line.go.
import { Box, grid } from "./geometry";
import { Point } from "./types";

const out = 24; // that a line which leads back runs straight out of a card
const corner = 10; // radius of its corners
const lane = 40; // that two cards must leave between them for it to pass there

export interface Line {
  d: string; // the path, with its arrow head
  middle: Point;
  tight: boolean; // a word on it would cover what stands at its ends
}

const ends = (from: Box, to: Box) => [from.x + from.w, from.y + from.h / 2, to.x, to.y + to.h / 2] as const;
const leadsBack = (x1: number, x2: number) => x2 < x1 - 2 * grid;
const bendOf = (x1: number, x2: number) => Math.max(40, Math.trunc((x2 - x1) / 2));

// between draws the edge from the middle of the right side of one card to the
// middle of the left side of another. One that leads back to the left takes the
// lane between the two cards where there is one, and else passes under both.
export function between(from: Box, to: Box): Line {
  const [x1, y1, x2, y2] = ends(from, to);
  const head = `M${x2 - 7} ${y2 - 4}L${x2 - 1} ${y2}L${x2 - 7} ${y2 + 4}`;
  const x = Math.trunc((x1 + x2) / 2);
  if (leadsBack(x1, x2)) {
    const y = laneOf(from, to);
    return { d: back(x1, y1, x2, y2, y) + head, middle: { x, y }, tight: false };
  }
  const bend = bendOf(x1, x2);
  return {
    d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}${head}`,
    middle: { x, y: Math.trunc((y1 + y2) / 2) },
    tight: x2 >= x1 && x2 - x1 < 100 && Math.abs(y2 - y1) < 60,
  };
}

// laneOf is how high a line runs that leads back to the left.
function laneOf(from: Box, to: Box): number {
  const [below, above] = [from.y + from.h, to.y + to.h];
  if (to.y - below >= lane) return Math.trunc((below + to.y) / 2);
  if (from.y - above >= lane) return Math.trunc((above + from.y) / 2);
  return Math.max(below, above) + out;
}

// back leads out of a card, along y, and into the other card from its left.
function back(x1: number, y1: number, x2: number, y2: number, y: number): string {
  const [down1, down2] = [y < y1 ? -corner : corner, y2 < y ? -corner : corner];
  const [right, left] = [x1 + out, x2 - out];
  return (
    `M${x1} ${y1}H${right - corner}Q${right} ${y1} ${right} ${y1 + down1}V${y - down1}Q${right} ${y} ${right - corner} ${y}` +
    `H${left + corner}Q${left} ${y} ${left} ${y + down2}V${y2 - down2}Q${left} ${y2} ${left + corner} ${y2}H${x2}`
  );
}

// gap is how far a point is from the line between two cards.
export function gap(from: Box, to: Box, p: Point): number {
  const way = corners(from, to);
  let least = Infinity;
  for (let i = 0; i + 1 < way.length; i++) least = Math.min(least, toSegment(way[i]!, way[i + 1]!, p));
  return least;
}

// corners are points along a line, straight ways between them.
function corners(from: Box, to: Box): Point[] {
  const [x1, y1, x2, y2] = ends(from, to);
  if (leadsBack(x1, x2)) {
    const y = laneOf(from, to);
    const [right, left] = [x1 + out, x2 - out];
    return [[x1, y1], [right, y1], [right, y], [left, y], [left, y2], [x2, y2]].map(([x, y]) => ({ x: x!, y: y! }));
  }
  const bend = bendOf(x1, x2);
  const steps = 24;
  const along = (t: number, a: number, b: number, c: number, d: number) => (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d;
  return Array.from({ length: steps + 1 }, (_, i) => ({
    x: along(i / steps, x1, x1 + bend, x2 - bend, x2),
    y: along(i / steps, y1, y1, y2, y2),
  }));
}

function toSegment(a: Point, b: Point, p: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const t = dx || dy ? Math.min(1, Math.max(0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy))) : 0;
  return Math.hypot(a.x + t * dx - p.x, a.y + t * dy - p.y);
}
