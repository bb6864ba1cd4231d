// Where the menus of the canvas open, and what they are about.
import { Camera } from "./camera";
import { Edits } from "./edits";
import { Choice, menu, Search, Spot } from "./menu";
import { Edge } from "./model";
import { ofCard, ofStage, Room } from "./offers";
import { View } from "./view";

// Ground is what the menus stand on.
export interface Ground extends Room {
  readonly view: View;
  readonly camera: Camera;
  readonly edits: Edits | undefined;
  select(cards: Iterable<string>): void;
  focusCard(card: string | undefined): void;
  nameOf(card: string): string;
}

export class Menus {
  constructor(
    private root: HTMLElement,
    private stage: HTMLElement,
    private ground: Ground,
  ) {}

  condition(edge: Edge): void {
    const at = this.ground.view.middle(edge.key);
    if (at) this.ground.edits?.edge(edge, this.spot(at));
  }

  // spot is where a point of the graph is on the screen.
  private spot(at: { x: number; y: number }): Spot {
    const box = this.stage.getBoundingClientRect();
    const { k, x, y } = this.ground.camera;
    return { clientX: box.left + at.x * k + x, clientY: box.top + at.y * k + y };
  }

  private boxOf(card: string | undefined): DOMRect | undefined {
    return card === undefined ? undefined : this.ground.view.cards.get(card)?.getBoundingClientRect();
  }

  addAfter(card: string | undefined): void {
    const box = this.boxOf(card) ?? this.stage.getBoundingClientRect();
    this.ground.edits?.addAfter(card, { clientX: card ? box.right + 12 : box.left + box.width / 2, clientY: box.top + 12 });
  }

  // of opens the menu of a card, or of the canvas, below it.
  of(card: string | undefined): void {
    const box = this.boxOf(card);
    const at = box ?? this.stage.getBoundingClientRect();
    this.at({ clientX: at.left + 20, clientY: box ? box.bottom + 6 : at.top + 20 }, card, undefined);
  }

  at(at: Spot, card: string | undefined, edge: Edge | undefined): void {
    const { edits, selection } = this.ground;
    if (edge && edits) return edits.edge(edge, at);
    if (!card) return this.choose(at, "Canvas", ofStage(at, this.ground, edits));
    if (!selection.has(card)) this.ground.select([card]);
    this.ground.focusCard(card);
    const many = selection.size;
    this.choose(at, many > 1 ? `${many} cards` : this.ground.nameOf(card), ofCard(card, this.ground, edits));
  }

  // find leads to a card by its name.
  find(): void {
    const box = this.stage.getBoundingClientRect();
    const choices = [...this.ground.view.cards.keys()].map((card) => ({
      label: this.ground.nameOf(card),
      act: () => {
        this.ground.select([card]);
        this.ground.focusCard(card);
      },
    }));
    this.choose({ clientX: box.left + box.width / 2 - 110, clientY: box.top + 20 }, "Find a card", choices, { hint: "Name of a card" });
  }

  choose(at: Spot, label: string, choices: Choice[], search?: Search): void {
    const sprite = document.querySelector("use")?.getAttribute("href")?.split("#")[0] ?? "";
    menu(this.root, at, label, choices, sprite, search);
  }
}
