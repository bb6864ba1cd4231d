// Goes through the cards of a run that failed, in the order in which the graph is read:
// by the buttons beside the outcome, by the tally of the timeline and by keys.
import { View } from "./view";

export class Fallen {
  constructor(
    private view: View,
    private fell: (status: string) => boolean,
    private chosen: () => string | undefined,
    private go: (card: string) => void,
    private say: (text: string) => void,
  ) {
    document.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLElement>("[data-fallen]");
      if (!button) return;
      this.step(Number(button.dataset["fallen"]));
      // Who goes on by the button stays at it; the key takes the card.
      document.getElementById(button.id)?.focus({ preventScroll: true });
    });
  }

  // step goes by 1 or -1 to the next card that failed, round the end, and from a card
  // that has not to the first or the last one.
  step(by: number): void {
    const cards = this.cards();
    if (cards.length === 0) return this.say("No card failed");
    const here = cards.indexOf(this.chosen() ?? "");
    const next = here < 0 ? (by > 0 ? 0 : cards.length - 1) : (here + by + cards.length) % cards.length;
    this.go(cards[next]!);
    this.tell();
    this.say(`${next + 1} of ${cards.length} that failed`);
  }

  // tell says which of those that failed is chosen, where the head of the page has a
  // place for that.
  tell(): void {
    const place = document.getElementById("run-turn");
    if (!place) return;
    const cards = this.cards();
    const here = cards.indexOf(this.chosen() ?? "");
    const text = here < 0 ? `${cards.length}` : `${here + 1} of ${cards.length}`;
    if (place.textContent !== text) place.textContent = text;
  }

  private cards(): string[] {
    const { boxes } = this.view;
    const fallen = [...this.view.cards].filter(([, card]) => this.fell(card.dataset["status"] ?? ""));
    return fallen.map(([id]) => id).sort((a, b) => boxes.get(a)!.x - boxes.get(b)!.x || boxes.get(a)!.y - boxes.get(b)!.y);
  }
}
