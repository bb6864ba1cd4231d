// What mouse, pen and finger do on the stage. One gesture at a time; what it
// means is decided when it begins, and Escape takes it back.
import { Camera } from "./camera";
import { Box, snap, touches } from "./geometry";
import { Spot } from "./menu";
import { Edits } from "./edits";
import { Edge } from "./model";
import { Point } from "./types";
import { View } from "./view";

export interface Host {
  readonly view: View;
  readonly camera: Camera;
  readonly edits: Edits | undefined;
  readonly selection: Set<string>;
  select(cards: Iterable<string>): void;
  menuAt(at: Spot, card: string | undefined, edge: Edge | undefined): void;
  condition(edge: Edge): void; // opens the menu of an edge at its middle
  connectFrom(card: string): void;
  connecting(): string | undefined; // from which card, by a tap or a key
  endConnect(): void;
  say(text: string): void;
  calm(): void; // what was refused in passing no longer matters
}

interface Gesture {
  move(event: PointerEvent): void;
  end(event: PointerEvent): void;
  cancel(): void;
}

const reach = 28; // screen pixels from which a line snaps to a card
const border = 48; // from which a drag pans by itself

export class Pointer {
  private gesture: Gesture | undefined;
  private fingers = new Map<number, Point>();
  private due: PointerEvent | undefined;
  private last: PointerEvent | undefined; // to which the gesture has come
  private pressed: PointerEvent | undefined; // the last press, to tell a click from the end of a drag

  constructor(
    private stage: HTMLElement,
    private host: Host,
  ) {
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.up(event));
    stage.addEventListener("pointercancel", (event) => this.lost(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("dblclick", (event) => {
      const hit = under(event);
      if (hit.closest("button, a, input, [data-pill], [data-hit]")) return;
      const card = cardAt(hit);
      if (card) this.host.edits?.rename(card);
      else this.host.edits?.add(event);
    });
    stage.addEventListener("click", (event) => {
      // A key clicks as well, and has no place.
      if (event.detail === 0) {
        const edge = this.edgeAt(event.target as Element);
        if (edge) this.host.condition(edge);
        return;
      }
      // A line that was pulled ends on the edge that it has become.
      if (this.pressed && farFrom(this.pressed)(event)) return;
      const edge = this.edgeAt(under(event));
      if (edge) this.host.edits?.edge(edge, event);
    });
    stage.addEventListener("contextmenu", (event) => {
      const hit = under(event);
      if (hit.closest("input")) return;
      event.preventDefault();
      this.cancel();
      this.host.menuAt(event, cardAt(hit), this.edgeAt(hit));
    });
  }

  get busy(): boolean {
    return this.gesture !== undefined;
  }

  cancel(): void {
    this.gesture?.cancel();
    this.gesture = undefined;
    this.due = this.last = undefined;
  }

  // redrawn is told that the graph was drawn anew, and with it what is dragged where it
  // was: it belongs under the pointer, also where that rests.
  redrawn(): void {
    if (this.last) this.gesture?.move(this.last);
  }

  private edgeAt(hit: Element): Edge | undefined {
    const part = hit.closest<HTMLElement>("[data-pill], [data-hit]");
    return part ? this.host.view.lines.get(part.dataset["pill"] ?? part.dataset["hit"] ?? "")?.edge : undefined;
  }

  private down(event: PointerEvent): void {
    const target = event.target as Element;
    this.pressed = event;
    if (target.closest("button, a, input")) return;
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, this.host.camera.at(event));
      if (this.fingers.size === 2) {
        this.cancel();
        this.gesture = this.pinch();
        return;
      }
    }
    if (this.gesture || (event.button !== 0 && event.button !== 1)) return;
    this.gesture = this.begin(event, target);
    if (event.pointerType === "touch") this.longPress(event);
    this.stage.setPointerCapture(event.pointerId);
    this.stage.focus({ preventScroll: true });
  }

  private begin(event: PointerEvent, target: Element): Gesture {
    const card = cardAt(target);
    if (event.button === 1) return this.pan(event);
    if (card && this.host.edits && target.closest("[data-port=out]")) return this.wire(card, event, this.host.edits);
    if (card) return this.press(event, card);
    if (event.shiftKey && event.pointerType !== "touch") return this.marquee(event);
    return this.pan(event);
  }

  // longPress opens the menu under a finger that rests.
  private longPress(start: PointerEvent): void {
    const far = farFrom(start);
    const hit = start.target as Element;
    const end = () => {
      clearTimeout(due);
      for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, end, true);
      removeEventListener("pointermove", stray, true);
    };
    const stray = (event: PointerEvent) => {
      if (far(event)) end();
    };
    const due = setTimeout(() => {
      end();
      if (this.fingers.size !== 1) return;
      this.cancel();
      this.host.menuAt(start, cardAt(hit), this.edgeAt(hit));
    }, 500);
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end, true);
    addEventListener("pointermove", stray, true);
  }

  // move applies the newest place once a frame.
  private move(event: PointerEvent): void {
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, this.host.camera.at(event));
    if (!this.gesture) return;
    if (!this.due) requestAnimationFrame(() => this.flush());
    this.due = event;
  }

  private flush(): void {
    const event = this.due;
    this.due = undefined;
    if (!event || !this.gesture) return;
    this.gesture.move(event);
    this.last = event;
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.flush();
    const gesture = this.gesture;
    this.gesture = this.last = undefined;
    gesture?.end(event);
  }

  private lost(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.cancel();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { camera } = this.host;
    if (event.ctrlKey || event.metaKey) {
      const factor = Math.min(Math.max(Math.exp(-0.004 * event.deltaY), 0.75), 1.25);
      camera.zoom(factor, camera.at(event));
      return;
    }
    const unit = event.deltaMode === 1 ? 16 : 1;
    const [dx, dy] = event.shiftKey && !event.deltaX ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    camera.pan(-dx * unit, -dy * unit);
  }

  private pan(start: PointerEvent): Gesture {
    let last = { x: start.clientX, y: start.clientY };
    const far = farFrom(start);
    let moved = false;
    this.stage.classList.add("panning");
    const done = () => this.stage.classList.remove("panning");
    return {
      move: (event) => {
        moved ||= far(event);
        if (moved) this.host.camera.pan(event.clientX - last.x, event.clientY - last.y);
        if (moved) last = { x: event.clientX, y: event.clientY };
      },
      end: (event) => {
        done();
        if (moved || event.button !== 0 || under(event).closest("[data-pill], [data-hit]")) return;
        this.host.endConnect();
        this.host.select([]);
      },
      cancel: done,
    };
  }

  private pinch(): Gesture {
    const two = () => [...this.fingers.values()] as [Point, Point];
    const measure = ([a, b]: [Point, Point]) => ({ gap: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
    let last = measure(two());
    return {
      move: () => {
        if (this.fingers.size < 2) return;
        const now = measure(two());
        this.host.camera.pan(now.x - last.x, now.y - last.y);
        this.host.camera.zoom(now.gap / last.gap, now);
        last = now;
      },
      end: () => {},
      cancel: () => {},
    };
  }

  // press selects on release, or drags the selection once the pointer has gone
  // a few pixels.
  private press(start: PointerEvent, card: string): Gesture {
    const { view, camera, selection } = this.host;
    const far = farFrom(start);
    const from = camera.toWorld(camera.at(start));
    let places: Map<string, Point> | undefined;
    let under: Edge | undefined; // on which a card that stands alone would be put
    const put = (by: Point, exact: boolean) => {
      for (const [id, at] of places!) {
        const next = { x: at.x + by.x, y: at.y + by.y };
        view.place(id, exact ? { x: Math.round(next.x), y: Math.round(next.y) } : snap(next));
      }
    };
    const finish = () => {
      for (const id of places?.keys() ?? []) view.cards.get(id)?.classList.remove("dragged");
    };
    return {
      move: (event) => {
        if (!this.host.edits || (!places && !far(event))) return;
        if (!places) {
          if (!selection.has(card)) this.host.select([card]);
          places = new Map([...this.host.selection].map((id) => [id, { ...view.boxes.get(id)! }]));
          for (const id of places.keys()) view.cards.get(id)?.classList.add("dragged");
        }
        this.autoPan(event);
        const now = camera.toWorld(camera.at(event));
        put({ x: now.x - from.x, y: now.y - from.y }, event.altKey);
        if (places.size === 1 && this.host.edits.loose(card)) under = this.aim(card, under);
      },
      end: (event) => {
        finish();
        if (under) view.lines.get(under.key)?.path.classList.remove("aimed");
        if (places && under) return this.host.edits?.insertCard(card, under);
        if (places) {
          const moved: Record<string, Point> = {};
          for (const [id, was] of places) {
            const box = view.boxes.get(id);
            if (box && (box.x !== was.x || box.y !== was.y)) moved[id] = { x: box.x, y: box.y };
          }
          if (Object.keys(moved).length > 0) this.host.edits?.move(moved);
          return;
        }
        const source = this.host.connecting();
        if (source && source !== card) {
          this.host.endConnect();
          this.host.edits?.connect(source, card);
        } else if (event.shiftKey || event.ctrlKey || event.metaKey) {
          const next = new Set(selection);
          if (!next.delete(card)) next.add(card);
          this.host.select(next);
        } else {
          this.host.select([card]);
        }
      },
      cancel: () => {
        if (places) put({ x: 0, y: 0 }, true);
        if (under) view.lines.get(under.key)?.path.classList.remove("aimed");
        finish();
      },
    };
  }

  // aim marks the edge on which a card would be put if it were let go.
  private aim(card: string, before: Edge | undefined): Edge | undefined {
    const { view, camera } = this.host;
    const box = view.boxes.get(card)!;
    const edge = view.edgeNear({ x: box.x + box.w / 2, y: box.y + box.h / 2 }, 24 / camera.k);
    if (edge?.key !== before?.key) {
      if (before) view.lines.get(before.key)?.path.classList.remove("aimed");
      if (edge) view.lines.get(edge.key)?.path.classList.add("aimed");
    }
    return edge;
  }

  private autoPan(event: PointerEvent): void {
    const at = this.host.camera.at(event);
    const speed = (low: number, high: number) => (low < border ? (border - low) / 3 : high < border ? -(border - high) / 3 : 0);
    const dx = Math.max(Math.min(speed(at.x, this.stage.clientWidth - at.x), 16), -16);
    const dy = Math.max(Math.min(speed(at.y, this.stage.clientHeight - at.y), 16), -16);
    if (dx || dy) this.host.camera.pan(dx, dy);
  }

  // wire pulls a line from a card. Cards that it cannot lead to are dim from
  // the first pixel.
  private wire(from: string, start: PointerEvent, edits: Edits): Gesture {
    const { view, camera } = this.host;
    const barred = edits.impossible(from);
    const far = farFrom(start);
    let pulled = false;
    for (const [id, card] of view.cards) card.classList.add(barred.has(id) ? "barred" : "open");
    view.cards.get(from)?.classList.add("source");
    const line = view.wire(from);
    let over: string | undefined;
    const finish = () => {
      line.remove();
      for (const card of view.cards.values()) card.classList.remove("barred", "open", "source", "aimed");
    };
    return {
      move: (event) => {
        pulled ||= far(event);
        const at = camera.toWorld(camera.at(event));
        const aimed = this.near(at, from);
        if (aimed !== over) {
          if (over) view.cards.get(over)?.classList.remove("aimed");
          over = aimed;
          if (over) view.cards.get(over)?.classList.add("aimed");
          if (over && barred.has(over)) edits.complain(from, over);
          else this.host.calm();
        }
        const box = over ? view.boxes.get(over) : undefined;
        line.to(box ? { x: box.x, y: box.y + box.h / 2 } : at, over !== undefined && barred.has(over));
      },
      end: (event) => {
        finish();
        this.host.calm();
        // A tap on the dot waits for a tap on the card that comes next.
        if (!pulled) return this.host.connectFrom(from);
        const at = camera.toWorld(camera.at(event));
        const onto = this.near(at, from) ?? (inside(view.boxes.get(from)!, at) ? from : undefined);
        if (onto && onto !== from) edits.connect(from, onto);
        else if (!onto) edits.drop(from, event);
      },
      cancel: () => {
        finish();
        this.host.calm();
      },
    };
  }

  // near is the card under a point of the world, or the closest within reach.
  private near(at: Point, besides: string): string | undefined {
    let best: string | undefined;
    let least = reach / this.host.camera.k;
    for (const [id, box] of this.host.view.boxes) {
      if (id === besides) continue;
      const gap = Math.hypot(Math.max(box.x - at.x, 0, at.x - box.x - box.w), Math.max(box.y - at.y, 0, at.y - box.y - box.h));
      if (gap < least) [best, least] = [id, gap];
    }
    return best;
  }

  private marquee(start: PointerEvent): Gesture {
    const { camera, view } = this.host;
    const frame = document.createElement("div");
    frame.className = "marquee";
    this.stage.append(frame);
    const before = start.ctrlKey || start.metaKey ? new Set(this.host.selection) : new Set<string>();
    const a = camera.at(start);
    return {
      move: (event) => {
        const b = camera.at(event);
        const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
        Object.assign(frame.style, { transform: `translate(${x}px,${y}px)`, width: `${Math.abs(a.x - b.x)}px`, height: `${Math.abs(a.y - b.y)}px` });
        const corner = camera.toWorld({ x, y });
        const box: Box = { ...corner, w: Math.abs(a.x - b.x) / camera.k, h: Math.abs(a.y - b.y) / camera.k };
        const inBox = [...view.boxes].filter(([, other]) => touches(box, other)).map(([id]) => id);
        this.host.select(new Set([...before, ...inBox]));
      },
      end: () => {
        frame.remove();
        this.host.say(`${this.host.selection.size} selected`);
      },
      cancel: () => frame.remove(),
    };
  }
}

const cardAt = (hit: Element): string | undefined => hit.closest<HTMLElement>(".node")?.dataset["id"];

// under is what the pointer is over. While the stage has captured it, and for
// the click that follows, the event itself names the stage.
const under = (event: MouseEvent): Element => document.elementFromPoint(event.clientX, event.clientY) ?? (event.target as Element);

const inside = (box: Box, p: Point): boolean => p.x >= box.x && p.x <= box.x + box.w && p.y >= box.y && p.y <= box.y + box.h;

// farFrom tells a drag from a click: 4 px for a mouse, 8 for a finger.
function farFrom(start: PointerEvent): (event: PointerEvent) => boolean {
  const least = start.pointerType === "touch" ? 8 : 4;
  return (event) => Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) >= least;
}
