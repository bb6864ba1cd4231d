// The panel beside the canvas: it shows the card that is selected alone, and the
// workflow itself ("") where nothing is selected. What a
// card shows is asked for a moment after the last click; until it is there, the
// panel still shows another card and takes no clicks, so that no tab or button
// of that card can come in between. Requests for the panel replace each other
// (hx-sync on it and on its tabs): the newest wins.
import { Sync } from "./sync";
import { Info } from "./types";

const rest = 120; // ms after a click, so that a double click asks once

export class Panel {
  private shown: string | undefined;
  private loading: string | undefined; // a card whose panel was asked for and is not there yet
  private due: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;

  constructor(
    private box: HTMLElement | null,
    private address: (card: string) => string,
    private settled: () => Promise<void>, // what was done so far is known to the server
  ) {}

  // adopt takes over what the server has drawn.
  adopt(card: string | undefined): void {
    this.shown = card;
  }

  // listen takes over what a form of the panel saves: the name on a card, and that
  // the draft has moved on.
  listen(sync: Sync, changed: () => void): void {
    const { box } = this;
    if (!box) return;
    sign(box, sync.client);
    const learn = () => {
      const details = box.querySelector<HTMLElement>("[data-panel]");
      if (!details) return;
      sign(box, sync.client);
      const { panel: card = "", seq = "0", info } = details.dataset;
      if (info && card) {
        sync.infos[card] = JSON.parse(info) as Info;
        changed();
      }
      sync.pull(Number(seq));
      // A job's own draft has no topic: the head counts its changes by this.
      if ("saved" in details.dataset) document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
    };
    new MutationObserver(learn).observe(box, { childList: true });
  }

  // show shows a card, or the workflow by ""; undefined leaves what is there. again also asks for the card
  // that is shown already.
  show(card: string | undefined, again = false): void {
    clearTimeout(this.due);
    this.loading = undefined;
    const turn = ++this.asked;
    const url = new URL(location.href);
    if (card) url.searchParams.set("node", card);
    else url.searchParams.delete("node");
    history.replaceState(history.state, "", url);
    if (!this.box) return;
    if (card === undefined || (card === this.shown && !again)) {
      this.box.inert = false;
      return;
    }
    this.box.inert = card !== this.shown;
    this.due = setTimeout(() => void this.load(card, turn), rest);
  }

  // refresh asks again for what is shown, unless something was typed there.
  refresh(): void {
    if (this.shown === undefined || !this.box) return;
    const fields = [...this.box.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")];
    const options = [...this.box.querySelectorAll<HTMLOptionElement>("option")];
    const typed =
      fields.some((f) => f.value !== f.defaultValue || ("checked" in f && f.checked !== f.defaultChecked)) ||
      options.some((o) => o.selected !== o.defaultSelected && o.closest("select")?.querySelector("option[selected]"));
    if (!typed) this.show(this.shown, true);
  }

  private async load(card: string, turn: number): Promise<void> {
    // A card that the server does not know yet has no panel yet.
    await this.settled();
    if (turn !== this.asked) return;
    this.shown = undefined; // from here on an answer may come at any moment
    this.loading = card;
    await window.htmx?.ajax("GET", this.address(card), { source: "#panel", target: "#panel", swap: "innerHTML" });
    if (turn !== this.asked) return;
    this.loading = undefined;
    this.shown = card;
    this.box!.inert = false;
  }

  // renamed is told that a card has got another name on the canvas. A panel that
  // is on its way may still say the old one and is asked for again; in one that
  // is there only the name changes, so that what was typed beside it stays.
  renamed(card: string, name: string): void {
    if (card === this.loading) return this.show(card, true);
    if (card !== this.shown || !this.box) return;
    const title = this.box.querySelector("h2");
    if (title) title.textContent = name;
    const field = this.box.querySelector<HTMLInputElement>("input[name=name]");
    if (field && field.value === field.defaultValue) field.value = name;
    if (field) field.defaultValue = name;
  }

  // enter puts the focus into the panel once it shows what was asked for.
  enter(): void {
    const focus = () => this.box?.querySelector<HTMLElement>("input:not([type=hidden]), select, textarea, a, button")?.focus();
    if (this.box && !this.box.inert) focus();
    else this.box?.addEventListener("htmx:after:swap", () => setTimeout(focus), { once: true });
  }
}

// sign puts the name of a tab into the form of the panel: what it saves is an
// act of this tab and can be undone there.
function sign(box: HTMLElement, tab: string): void {
  const field = box.querySelector<HTMLInputElement>("input[name=client]");
  if (field) field.value = tab;
}
