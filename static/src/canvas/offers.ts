// The menus of a right click, a long press or the menu key: what the keys do,
// for those who do not know them yet.
import { Edits } from "./edits";
import { Choice } from "./menu";
import { Graph, parse, switched } from "./model";

// Room is what the menus need of the canvas.
export interface Room {
  readonly graph: Graph;
  readonly selection: Set<string>;
  open(card: string): void;
  run(act: string): void;
  connectFrom(card: string): void;
  runAlone(card: string): void;
  moveBookmarks(card: string, move: "pause" | "resume" | "reset"): void;
  bookmarks(card: string): "on" | "paused" | undefined; // nothing where the job has none
}

// ofCard are the acts on a card, or on all that are selected with it.
export function ofCard(card: string, room: Room, edits: Edits | undefined): Choice[] {
  const open: Choice = { label: "Open", icon: "panel-right", keys: "Enter", act: () => room.open(card) };
  const ref = parse(card);
  const page: Choice[] = ref ? [{ label: `Page of this ${ref.kind}`, icon: "external-link", act: () => location.assign(`/${ref.kind}s/${ref.id}`) }] : [];
  if (!edits) return [open, ...page, ...ofBookmarks(card, room)];
  const many = room.selection.size > 1;
  const trigger = room.graph.triggers.get(card);
  return [
    ...(many ? [] : [open, ...page]),
    ...(many || !ref ? [] : [{ label: "Run alone", icon: "play", act: () => room.runAlone(card) }]),
    ...(many ? [] : ofBookmarks(card, room)),
    ...(many
      ? []
      : [
          { label: "Rename", icon: "pencil", keys: "F2", act: () => edits.rename(card) },
          { label: "Connect to…", icon: "waypoints", keys: "C", act: () => room.connectFrom(card) },
        ]),
    ...(trigger && !many && switched(trigger) ? [{ label: trigger.disabled ? "Turn on" : "Turn off", icon: "power", keys: "D", act: () => edits.disable(card) }] : []),
    { label: "Copy", icon: "copy", keys: "Ctrl+C", act: () => void edits.copy() },
    { label: "Duplicate", icon: "copy", keys: "Ctrl+D", act: () => edits.duplicate() },
    { label: "Delete", icon: "trash-2", keys: "Delete", act: () => edits.remove() },
    ...(ref || many ? [{ label: "Delete and reconnect", icon: "unlink", keys: "Ctrl+Delete", act: () => edits.heal() }] : []),
  ];
}

// ofBookmarks are the moves of the bookmarks of a job; a reset asks first.
function ofBookmarks(card: string, room: Room): Choice[] {
  const state = room.bookmarks(card);
  if (!state) return [];
  const move = (label: string, icon: string, kind: "pause" | "resume" | "reset"): Choice => ({ label, icon, act: () => room.moveBookmarks(card, kind) });
  return [state === "paused" ? move("Resume bookmark", "bookmark-check", "resume") : move("Pause bookmark", "pause", "pause"), move("Reset bookmark…", "rotate-ccw", "reset")];
}

// ofStage are the acts on the canvas as a whole.
export function ofStage(at: { clientX: number; clientY: number }, room: Room, edits: Edits | undefined): Choice[] {
  const look: Choice[] = [
    { label: "Find…", icon: "search", keys: "/", act: () => room.run("find") },
    { label: "Show everything", icon: "maximize", keys: "1", act: () => room.run("fit") },
  ];
  if (!edits) return look;
  return [
    { label: "Add…", icon: "plus", keys: "A", act: () => edits.add(at) },
    ...(edits.canPaste ? [{ label: "Paste", icon: "copy", keys: "Ctrl+V", act: () => edits.pasteCopied() }] : []),
    ...look,
    { label: "Tidy up", icon: "layout-dashboard", keys: "Shift+T", act: () => room.run("tidy") },
  ];
}
