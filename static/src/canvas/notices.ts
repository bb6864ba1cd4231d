// What the canvas says beside the cards: what it has done, what was refused, how
// far the draft is saved, and what is wrong with a card.
import { SaveState } from "./sync";
import { Problem, Refusal } from "./types";
import { View } from "./view";

export class Notices {
  private wasSaving = false;
  private passing = false; // what is refused now was only pointed at
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private unsaved = false; // something typed in the panel is not saved
  private last: [SaveState, number, string] = ["saved", 0, ""];

  constructor(
    private root: HTMLElement,
    private view: View,
  ) {}

  // say tells those who do not see the canvas.
  say(text: string): void {
    const box = this.root.querySelector(".said");
    if (box) box.textContent = text;
  }

  // refused says why something was not done. What a drag says in passing goes when
  // the drag goes on to something better (calm).
  refused(refusal: Refusal, passing = false): void {
    const box = this.root.querySelector<HTMLElement>(".refused")!;
    box.textContent = refusal.message;
    box.classList.add("shown");
    if (refusal.path.length > 1) this.view.light(refusal.path);
    this.passing = passing;
    const hide = () => {
      if (box.matches(":hover")) this.hiding = setTimeout(hide, 1000);
      else box.classList.remove("shown");
    };
    clearTimeout(this.hiding);
    this.hiding = setTimeout(hide, 5000);
  }

  // calm takes back what a drag said in passing.
  calm(): void {
    if (!this.passing) return;
    clearTimeout(this.hiding);
    this.root.querySelector(".refused")?.classList.remove("shown");
  }

  typed(unsaved: boolean): void {
    if (unsaved === this.unsaved) return;
    this.unsaved = unsaved;
    this.head();
  }

  saving(state: SaveState, open: number, why = ""): void {
    this.last = [state, open, why];
    this.head();
    const told = state === "saved" && this.wasSaving;
    this.wasSaving = state === "saving" && open > 0;
    if (told) document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
  }

  // head says how far the work is saved.
  private head(): void {
    const [state, open, why] = this.last;
    const words = {
      saved: this.unsaved ? "Unsaved text" : "Saved",
      saving: "Saving…",
      offline: `Offline – ${open} ${open === 1 ? "change" : "changes"} kept`,
      stuck: `Not saved: ${why}`,
    }[state];
    for (const element of document.querySelectorAll<HTMLElement>("[data-save]")) {
      if (element.textContent !== words) element.textContent = words;
      element.dataset["save"] = state === "saved" && this.unsaved ? "unsaved" : state;
    }
  }

  problems(list: Problem[]): void {
    for (const [id, card] of this.view.cards) {
      const of = list.filter((p) => p.card === id);
      const hard = of.find((p) => !p.soft);
      const found = hard ?? of.find((p) => p.fails);
      card.classList.toggle("wrong", hard !== undefined);
      card.classList.toggle("warned", found !== undefined && !hard);
      const badge = card.querySelector<HTMLElement>("[data-slot=problem]");
      if (badge) badge.title = found?.message ?? "";
    }
  }
}
