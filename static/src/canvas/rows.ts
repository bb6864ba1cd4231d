// The rows of a graph's list, by their cards. A long list comes page by page, so
// the rows are read again when some have come or gone, and only then.
export class Rows {
  private found: Map<string, HTMLElement> | undefined;

  constructor(private list: HTMLElement | null) {
    const body = list?.querySelector("tbody");
    if (body) new MutationObserver(() => (this.found = undefined)).observe(body, { childList: true });
  }

  get(card: string): HTMLElement | undefined {
    this.found ??= this.read();
    return this.found.get(card);
  }

  private read(): Map<string, HTMLElement> {
    const rows = this.list?.querySelectorAll<HTMLElement>("[data-row]") ?? [];
    return new Map([...rows].map((row) => [row.dataset["row"]!, row]));
  }
}
