// What is folded away beside the canvas of the editor, as this browser remembers it.
// The root of the page says it, from before anything is painted (early.ts); the
// rest is style.
const key = "dogear-folded";

export type Part = "palette" | "panel";

function folded(): string[] {
  return (document.documentElement.dataset["folded"] ?? "").split(" ").filter(Boolean);
}

// recall folds what was folded when this browser was here last.
export function recall(): void {
  try {
    document.documentElement.dataset["folded"] = localStorage.getItem(key) ?? "";
  } catch {
    // A browser that keeps nothing shows everything.
  }
}

// fold folds a part away, or shows it again, and has its buttons say so.
export function fold(part: Part, away: boolean): void {
  const parts = [...folded().filter((other) => other !== part), ...(away ? [part] : [])].join(" ");
  document.documentElement.dataset["folded"] = parts;
  try {
    localStorage.setItem(key, parts);
  } catch {
    // It is folded for as long as the page is open.
  }
  say();
}

function say(): void {
  const away = folded();
  for (const button of document.querySelectorAll<HTMLElement>("[data-fold]")) {
    button.setAttribute("aria-expanded", String(!away.includes(button.dataset["fold"]!)));
  }
}

// startFolds makes the buttons work.
export function startFolds(): void {
  say();
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-fold]");
    const part = button?.dataset["fold"] as Part | undefined;
    if (part) fold(part, !folded().includes(part));
  });
}
