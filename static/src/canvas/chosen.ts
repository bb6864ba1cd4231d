// Which cards are selected, and which one has the focus: it is the one stop of
// the tab key in the graph.
import { Camera } from "./camera";
import { View } from "./view";

export class Chosen {
  readonly cards = new Set<string>();
  focused: string | undefined;

  constructor(
    private stage: HTMLElement,
    private view: View,
    private camera: Camera,
  ) {}

  // only is the card that is selected alone.
  get only(): string | undefined {
    return this.cards.size === 1 ? [...this.cards][0] : undefined;
  }

  select(cards: Iterable<string>): void {
    const next = [...cards].filter((card) => this.view.cards.has(card));
    this.cards.clear();
    for (const card of next) this.cards.add(card);
    this.paint();
    if (this.only) this.rove(this.only);
  }

  private paint(): void {
    for (const [id, card] of this.view.cards) {
      const selected = String(this.cards.has(id));
      if (card.getAttribute("aria-selected") !== selected) card.setAttribute("aria-selected", selected);
    }
  }

  // adopt takes over what the server has drawn as selected.
  adopt(wanted: string | undefined): void {
    const there = wanted !== undefined && this.view.cards.has(wanted);
    if (there) this.cards.add(wanted);
    this.paint();
    const first = there ? wanted : this.view.cards.keys().next().value;
    if (first) this.rove(first);
  }

  // settle lets go of cards that are no longer drawn, and says whether nothing is
  // selected any more. inGraph is whether the graph had the focus.
  settle(inGraph: boolean): boolean {
    const before = this.cards.size;
    for (const card of [...this.cards]) if (!this.view.cards.has(card)) this.cards.delete(card);
    if (this.focused && !this.view.cards.has(this.focused)) this.focusNear(inGraph);
    this.paint();
    return before > 0 && this.cards.size === 0;
  }

  // rove makes a card the one stop of the tab key.
  rove(card: string): void {
    if (this.focused) this.view.cards.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = card;
    this.view.cards.get(card)?.setAttribute("tabindex", "0");
  }

  focus(card: string | undefined): void {
    const element = card && this.view.cards.get(card);
    if (!card || !element) return;
    this.rove(card);
    element.focus({ preventScroll: true });
    this.camera.reveal(this.view.boxes.get(card)!);
  }

  // focusNear puts the focus on what stands nearest to where the lost card was.
  private focusNear(really: boolean): void {
    const card = [...this.cards][0] ?? this.view.cards.keys().next().value;
    this.focused = undefined;
    if (card === undefined) {
      if (really) this.stage.focus({ preventScroll: true });
    } else if (really) {
      this.focus(card);
    } else {
      this.rove(card);
    }
  }
}
