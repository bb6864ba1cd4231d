// Where a card goes that is put on an edge.
import { Box, grid, snap } from "./geometry";
import { Point } from "./types";

const gap = 60; // left and right of the new card, so that a pill fits

// room is the place for a card between two others, and the cards that have to
// make way: those from the second one on, to the right.
export function room(from: Box, to: Box, card: { w: number; h: number }, after: Map<string, Box>): { at: Point; move: Record<string, Point> } {
  const free = to.x - from.x - from.w;
  const y = (from.y + from.h / 2 + to.y + to.h / 2) / 2 - card.h / 2;
  const move: Record<string, Point> = {};
  if (free < 0) return { at: snap({ x: (from.x + to.x) / 2, y }), move }; // a line that leads back
  const by = Math.ceil(Math.max(card.w + 2 * gap - free, 0) / grid) * grid;
  if (by > 0) for (const [id, box] of after) if (box.x >= to.x) move[id] = { x: box.x + by, y: box.y };
  return { at: snap({ x: from.x + from.w + (free + by - card.w) / 2, y }), move };
}
