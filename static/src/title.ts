import { found } from "./watch";

const hues: Record<string, string> = { ok: "#187347", run: "#0b68ba", bad: "#c62a2f", warn: "#8f5300", idle: "#5b5f66" };

// startTitle lets the tab follow what the page shows: an element with
// data-title carries the title and the hue of the icon.
export function startTitle(): void {
  found<HTMLElement>("[data-title]", (element) => {
    document.title = element.dataset["title"] ?? document.title;
    const hue = hues[element.dataset["hue"] ?? ""];
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (link && hue) link.href = `data:image/svg+xml,${encodeURIComponent(icon(hue))}`;
  });
}

const icon = (hue: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path d="M4 2h8.5L17 6.5V16a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z" fill="#5b5bd6"/><circle cx="13.5" cy="13.5" r="6" fill="${hue}" stroke="#fff" stroke-width="1.5"/></svg>`;
