// The panel beside the canvas: it shows the card that is selected alone, and the
// workflow itself ("") where nothing is selected. What a
// card shows is asked for a moment after the last click; until it is there, the
// panel still shows another card and takes no clicks, so that no tab or button
// of that card can come in between. Requests for the panel replace each other
// (hx-sync on it and on its tabs): the newest wins.
//
// Nothing that was typed is lost: leaving a panel saves it as its button does,
// and where that is refused the panel stays, with the reason.
import { fold } from "../folded";
import { unsaved } from "../unsaved";
import { Sync } from "./sync";
import { Info } from "./types";

const rest = 120; // ms after a click, so that a double click asks once

export interface Host {
  stays(card: string): void; // the panel could not be left
  typed(unsaved: boolean): void;
  about(card: string): string; // all that the panel shows of a card and the graph knows
  joined(card: string, side: "before" | "after"): boolean; // whether a line leads to the card, or on from it
  askRun(): void; // what was typed is saved, and is not what runs yet
  known(): number; // the change up to which the graph is what the server has; Infinity with what is on its way
}

export class Panel {
  private shown: string | undefined;
  private wanted: string | undefined; // the card that is shown, or about to be
  private loading: string | undefined; // a card whose panel was asked for and is not there yet
  private due: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  private saving: Promise<boolean> | undefined;
  private about = ""; // what the graph said of the card when its panel was drawn
  private seq = 0; // the change up to which the panel is drawn
  private anew = false; // the card that is asked for is the one that is shown
  private missed = false; // a draft was changed while a panel was on its way, which may hold it or not

  constructor(
    private box: HTMLElement | null,
    private address: (card: string) => string,
    private settled: () => Promise<void>, // what was done so far is known to the server
    private host: Host,
  ) {}

  // unsaved says whether the panel holds what was typed and is not saved.
  get unsaved(): boolean {
    const form = this.box?.querySelector("#panel-form");
    return !!form && unsaved(form);
  }

  // leaves says whether another card was asked for than the one that is shown:
  // drawing the one that is shown anew would take the place of the other.
  private get leaves(): boolean {
    return this.wanted !== this.shown;
  }

  // adopt takes over what the server has drawn.
  adopt(card: string | undefined): void {
    this.shown = this.wanted = card;
    if (card !== undefined) this.about = this.host.about(card);
  }

  // listen takes over what a form of the panel saves: the name on a card, and that
  // the draft has moved on.
  listen(sync: Sync, changed: () => void): void {
    const { box } = this;
    if (!box) return;
    sign(box, sync.client);
    const tell = () => {
      box.classList.toggle("unsaved", this.unsaved);
      this.host.typed(this.unsaved);
    };
    box.addEventListener("input", tell);
    box.addEventListener("change", tell);
    box.addEventListener("submit", (event) => {
      if ((event.target as Element).id !== "panel-form") return;
      event.preventDefault();
      void this.save();
    });
    document.addEventListener("click", (event) => this.leaving(event), { capture: true });
    // What is typed while a refresh is on its way stays, and so does what is shown
    // only once.
    box.addEventListener("htmx:before:swap", (event) => {
      const { ctx } = (event as CustomEvent<{ ctx: { sourceElement: Element } }>).detail;
      const once = this.anew && box.querySelector("[data-once]") !== null;
      if (ctx.sourceElement !== box || !(this.unsaved || once)) return;
      event.preventDefault();
      if (this.unsaved) this.warn();
    });
    document.body.addEventListener("dogear:workflows-changed", () => this.refresh()); // published, perhaps elsewhere
    for (const kind of ["jobs", "crawlers"]) {
      document.body.addEventListener(`dogear:${kind}-changed`, () => {
        sync.look();
        void this.compare();
      });
    }
    const learn = () => {
      tell();
      const details = box.querySelector<HTMLElement>("[data-panel]");
      if (!details) return;
      sign(box, sync.client);
      const { panel: card = "", seq = "0", info } = details.dataset;
      if (info && card) {
        sync.infos[card] = JSON.parse(info) as Info;
        changed();
      }
      this.seq = Number(seq);
      sync.pull(this.seq);
      if (!("saved" in details.dataset)) return;
      sync.look(); // what was wrong may be mended
      // A job's own draft has no topic: the head counts its changes by this.
      document.body.dispatchEvent(new CustomEvent("dogear:draft-changed"));
    };
    new MutationObserver(learn).observe(box, { childList: true });
  }

  // show shows a card, or the workflow by ""; undefined leaves what is there. again also asks for the card
  // that is shown already.
  show(card: string | undefined, again = false): void {
    if (card !== undefined && (card !== this.shown || again) && this.unsaved) {
      void this.save().then((saved) => (saved ? this.show(card, again) : this.host.stays(this.shown ?? "")));
      return;
    }
    clearTimeout(this.due);
    this.loading = undefined;
    this.asked++;
    this.wanted = card ?? this.shown;
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
    this.ask(card);
  }

  // ask asks for the panel of a card once the person rests.
  private ask(card: string): void {
    clearTimeout(this.due);
    const turn = ++this.asked;
    this.due = setTimeout(() => void this.load(card, turn), rest);
  }

  // follow draws the panel anew where the graph says something else of its card
  // than it did, unless the panel itself has saved that. What was typed stays.
  follow(): void {
    if (this.shown === undefined || this.leaves) return;
    // What is only missing is not said any longer, even beside text that is not saved.
    for (const note of this.box?.querySelectorAll<HTMLElement>("[data-lacks]") ?? []) {
      note.hidden = this.host.joined(this.shown, note.dataset["lacks"] as "before" | "after");
    }
    const about = this.host.about(this.shown);
    if (about === this.about) return;
    this.about = about;
    if (this.host.known() <= this.seq) return;
    if (this.unsaved) this.warn();
    else this.ask(this.shown);
  }

  // compare draws the panel of a job or crawler anew where its draft was changed
  // elsewhere. What was typed stays.
  private async compare(): Promise<void> {
    await this.saving; // its answer is the newest there is
    const { box, shown } = this;
    this.missed = this.loading !== undefined;
    if (!box || !shown || !draftOf(box).base) return;
    const answer = await fetch(this.address(shown)).catch(() => undefined);
    if (!answer?.ok) return;
    const there = draftOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
    const here = draftOf(box);
    this.missed = this.loading !== undefined;
    if (shown !== this.shown || this.leaves || !here.base) return;
    if (there.name && there.name !== here.name) this.renamed(shown, there.name);
    if (there.base === here.base) return;
    if (this.unsaved) this.warn();
    else this.ask(shown);
  }

  // warn says that what is beside the typed text is no longer so.
  private warn(): void {
    const form = this.box?.querySelector("#panel-form");
    if (!form || form.querySelector("[data-stale]")) return;
    const note = document.createElement("p");
    note.className = "note warn";
    note.setAttribute("role", "status");
    note.dataset["stale"] = "";
    note.textContent = "This was changed meanwhile. What you typed is still here: save it, or discard it to see the change.";
    form.prepend(note);
  }

  // refresh asks again for what is shown, unless something was typed there.
  refresh(): void {
    if (this.shown !== undefined && !this.leaves && !this.unsaved) this.ask(this.shown);
  }

  // drop shows the workflow in the place of a card that is no longer there, and
  // says whether something typed went with it.
  drop(): boolean {
    const lost = this.unsaved;
    this.box?.replaceChildren();
    this.show("");
    return lost;
  }

  // save sends what was typed, and says whether the server took it. What was
  // asked for meanwhile gets the same answer.
  save(): Promise<boolean> {
    this.saving ??= this.send().finally(() => (this.saving = undefined));
    return this.saving;
  }

  private async send(): Promise<boolean> {
    const { box } = this;
    const form = box?.querySelector<HTMLFormElement>("#panel-form");
    if (!box || !form) return true;
    const focused = focusIn(box);
    box.inert = true; // what would be typed now would be lost
    await this.settled();
    const about = this.host.about(this.shown ?? "");
    await window.htmx?.ajax("POST", form.action, { source: form, target: "#panel", swap: "innerHTML" });
    box.inert = false;
    this.about = about; // the answer may know less of the graph than was drawn meanwhile
    this.follow();
    const wrong = box.querySelector<HTMLElement>("[aria-invalid=true]");
    if (wrong) {
      fold("panel", false); // what is wrong is to be seen
      wrong.focus();
    } else if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    return box.querySelector("[data-saved]") !== null && !this.unsaved;
  }

  // leaving saves before a click on what leads away from the panel, and lets the
  // click happen once that is done. The answer may have drawn anew what was clicked.
  private leaving(event: MouseEvent): void {
    const way = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-leaves], a[href]") : null;
    if (!way || !this.unsaved || event.ctrlKey || event.metaKey || event.shiftKey || way.matches("[target=_blank], [download]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { leaves } = way.dataset;
    if (leaves === "run") return void this.save().then((saved) => saved && this.host.askRun());
    const same = leaves ? `[data-leaves="${leaves}"]` : `a[href="${CSS.escape(way.getAttribute("href")!)}"]`;
    void this.save().then((saved) => {
      if (saved) (way.isConnected ? way : document.querySelector<HTMLElement>(same))?.click();
    });
  }

  private async load(card: string, turn: number): Promise<void> {
    // A card that the server does not know yet has no panel yet.
    await this.settled();
    const { box } = this;
    if (turn !== this.asked || !box) return;
    const same = card === this.shown;
    if (same && this.unsaved) return this.warn();
    this.anew = same;
    const focused = same ? focusIn(box) : "";
    const about = this.host.about(card);
    this.shown = undefined; // from here on an answer may come at any moment
    this.loading = card;
    await window.htmx?.ajax("GET", this.address(card), { source: "#panel", target: "#panel", swap: "innerHTML" });
    if (turn !== this.asked) return;
    this.loading = undefined;
    this.shown = card;
    this.about = about;
    box.inert = false;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    this.follow();
    if (this.missed) void this.compare();
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
    fold("panel", false);
    const focus = () => this.box?.querySelector<HTMLElement>("input:not([type=hidden]), select, textarea, a, button")?.focus();
    if (this.box && !this.box.inert) focus();
    else this.box?.addEventListener("htmx:after:swap", () => setTimeout(focus), { once: true });
  }
}

// draftOf is the name and the newest change of the job or crawler that root shows.
function draftOf(root: ParentNode): { name?: string; base?: string } {
  return { name: root.querySelector("h2")?.textContent ?? undefined, base: root.querySelector<HTMLInputElement>("#panel-form [name=base]")?.value };
}

// focusIn is the id of the field in box that has the focus.
function focusIn(box: HTMLElement): string {
  return box.contains(document.activeElement) ? document.activeElement!.id : "";
}

// sign puts the name of a tab into the form of the panel: what it saves is an
// act of this tab and can be undone there.
function sign(box: HTMLElement, tab: string): void {
  const field = box.querySelector<HTMLInputElement>("input[name=client]");
  if (field) field.value = tab;
}
