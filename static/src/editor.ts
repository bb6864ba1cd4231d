import { found } from "./watch";

// startEditors turns textareas with data-sql (the address of the editor's
// bundle) into SQL editors. The textarea stays the form's field, and stays as
// it is where the bundle cannot load.
export function startEditors(): void {
  found<HTMLTextAreaElement>("textarea[data-sql]", async (area) => {
    const address = area.dataset["sql"];
    if (!address || area.dataset["mounted"]) return;
    area.dataset["mounted"] = "yes";
    const { mount } = (await import(address)) as typeof import("./editor-sql");
    mount(area);
  });
}
