// The progress of a bookmark: bars of days or ranges and the mark among them.
// Dragging the mark, or across bars, opens the dialog that says what the move
// would do; nothing moves before that is answered, and the mark goes back when
// it is closed.
import { toast } from "./toast";
import { found } from "./watch";

export interface Bar {
  label: string;
  since: string; // "" where nothing of it was read
  until: string;
  read: boolean;
}

export interface Ask {
  move: "read_again" | "set_now";
  since?: string;
  until?: string;
}

// edgeAt is the edge between bars that is nearest to share of the width.
export function edgeAt(share: number, bars: number): number {
  return Math.min(Math.max(Math.round(share * bars), 0), bars);
}

// barAt is the bar that lies under share of the width.
export function barAt(share: number, bars: number): number {
  return Math.min(Math.max(Math.floor(share * bars), 0), bars - 1);
}

// settle is where a mark from home may stand when it is let go at an edge:
// before home anywhere, after it only at the end, because what waits is set to
// now all at once.
export function settle(at: number, home: number, bars: number): number {
  return at > home ? bars : at;
}

// step is where a key moves the mark to; undefined for another key.
export function step(key: string, at: number, home: number, bars: number): number | undefined {
  const to: Record<string, number> = {
    ArrowLeft: at > home ? home : at - 1, ArrowDown: at > home ? home : at - 1, PageDown: at > home ? home : at - 7, Home: 0,
    ArrowRight: at + 1, ArrowUp: at + 1, PageUp: Math.min(at + 7, Math.max(home, at + 1)), End: bars,
  };
  const next = to[key];
  return next === undefined ? undefined : settle(Math.min(Math.max(next, 0), bars), home, bars);
}

// dropped is what is asked when the mark is let go; nothing where it is home or
// nothing between there and home was read.
export function dropped(bars: readonly Bar[], home: number, at: number): Ask | undefined {
  if (at > home) return { move: "set_now" };
  const first = bars.slice(at, home).find((b) => b.read);
  return first && { move: "read_again", since: first.since };
}

// chosen is what is asked of the bars from one to another, both with.
export function chosen(bars: readonly Bar[], one: number, other: number): Ask | undefined {
  const among = bars.slice(Math.min(one, other), Math.max(one, other) + 1).filter((b) => b.read);
  if (among.length === 0) return undefined;
  return { move: "read_again", since: among[0]!.since, until: among.at(-1)!.until };
}

// words say what letting go would ask.
export function words(bars: readonly Bar[], home: number, at: number, name: string): string {
  if (at === home) return name;
  if (at > home) return "set to now";
  const first = bars.slice(at, home).find((b) => b.read);
  return first ? `read again from ${first.label}` : "nothing was read here";
}

// address is where the dialog of an ask is.
export function address(base: string, ask: Ask): string {
  const query = new URLSearchParams();
  if (ask.since) query.set("since", ask.since);
  if (ask.until) query.set("until", ask.until);
  return base + ask.move + (query.size > 0 ? `?${query}` : "");
}

export function startDays(): void {
  found<HTMLElement>("[data-days]", (box) => new Days(box));
}

class Days {
  private bars: Bar[];
  private spans: HTMLElement[];
  private mark: HTMLElement;
  private name: string;
  private home: number;
  private at: number;

  constructor(private box: HTMLElement) {
    this.spans = [...box.querySelectorAll<HTMLElement>(".bar")];
    this.bars = this.spans.map(({ dataset: d }) => ({ label: d["label"] ?? "", since: d["from"] ?? "", until: d["before"] ?? "", read: d["read"] !== undefined }));
    this.mark = box.querySelector<HTMLElement>(".mark")!;
    this.name = this.mark.textContent ?? "";
    this.home = this.at = Number(this.mark.getAttribute("aria-valuenow"));
    this.show();
    this.mark.addEventListener("keydown", (event) => this.key(event));
    this.mark.addEventListener("pointerdown", (event) => this.drag(event));
    box.addEventListener("pointerdown", (event) => this.select(event));
  }

  private show(): void {
    this.mark.style.left = `${(100 * this.at) / Math.max(this.bars.length, 1)}%`;
    const text = words(this.bars, this.home, this.at, this.name);
    this.mark.querySelector("b")!.textContent = text;
    this.mark.classList.toggle("early", this.at < this.bars.length / 2);
    this.mark.setAttribute("aria-valuenow", String(this.at));
    this.mark.setAttribute("aria-valuetext", text);
    this.spans.forEach((span, i) => span.classList.toggle("chosen", i >= this.at && i < this.home));
  }

  private move(at: number): void {
    this.at = at;
    this.show();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.move(this.home);
    else if (event.key === "Enter" || event.key === " ") this.drop();
    else {
      const to = step(event.key, this.at, this.home, this.bars.length);
      if (to === undefined) return;
      this.move(to);
    }
    event.preventDefault();
  }

  // share is how far along the bars a pointer is, from 0 to 1.
  private share(event: PointerEvent): number {
    const frame = this.box.getBoundingClientRect();
    return (event.clientX - frame.left) / frame.width;
  }

  private drag(event: PointerEvent): void {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.mark.focus();
    follow(this.mark, event, (e) => this.move(settle(edgeAt(this.share(e), this.bars.length), this.home, this.bars.length)), (kept) => (kept ? this.drop() : this.move(this.home)));
  }

  private drop(): void {
    if (this.at === this.home) return;
    const ask = dropped(this.bars, this.home, this.at);
    if (ask) return this.ask(ask);
    toast("Nothing between there and the bookmark was read, so nothing would be read again.");
    this.move(this.home);
  }

  private select(event: PointerEvent): void {
    if (event.button !== 0 || this.bars.length === 0) return;
    const from = barAt(this.share(event), this.bars.length);
    let to = from;
    const paint = () => this.spans.forEach((span, i) => span.classList.toggle("chosen", i >= Math.min(from, to) && i <= Math.max(from, to)));
    paint();
    follow(
      this.box,
      event,
      (e) => {
        to = barAt(this.share(e), this.bars.length);
        paint();
      },
      (kept) => {
        const ask = kept ? chosen(this.bars, from, to) : undefined;
        if (ask) return this.ask(ask);
        if (kept) toast("Nothing of this was read yet; it waits for the next run.");
        this.show();
      },
    );
  }

  // ask opens the dialog of a move. When it is closed or refused the mark is
  // where it was; a move that is made loads the page again.
  private ask(ask: Ask): void {
    const back = () => this.move(this.home);
    void window.htmx?.ajax("GET", address(this.box.dataset["days"]!, ask), { source: this.box, target: "body", swap: "beforeend" }).then(() => {
      const dialog = document.querySelector("dialog[data-show]");
      if (dialog) dialog.addEventListener("close", back, { once: true });
      else back();
    });
  }
}

// follow tracks a pointer from where it went down until it is let go, or until
// Escape or the system takes it away.
function follow(element: HTMLElement, down: PointerEvent, moved: (event: PointerEvent) => void, ended: (kept: boolean) => void): void {
  const stop = new AbortController();
  const mine = (event: PointerEvent) => event.pointerId === down.pointerId;
  const end = (kept: boolean) => {
    stop.abort();
    ended(kept);
  };
  element.setPointerCapture(down.pointerId);
  const { signal } = stop;
  element.addEventListener("pointermove", (event) => mine(event) && moved(event), { signal });
  element.addEventListener("pointerup", (event) => mine(event) && end(true), { signal });
  element.addEventListener("pointercancel", (event) => mine(event) && end(false), { signal });
  document.addEventListener("keydown", (event) => event.key === "Escape" && end(false), { signal });
}
