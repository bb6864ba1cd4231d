// The theme follows the system until a person chooses one; the choice is a
// cookie, so that the server renders the first paint right.
export function startTheme(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target as Element).closest("[data-theme-toggle]")) return;
    const root = document.documentElement;
    const dark = root.dataset["theme"]
      ? root.dataset["theme"] === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = dark ? "light" : "dark";
    document.cookie = `theme=${root.dataset["theme"]}; path=/; max-age=31536000; samesite=lax`;
  });
}
