import { found } from "./watch";

// startEditors turns textareas with data-code (the address of the bundle of an
// editor for their language) into editors. The textarea stays the form's field, and stays as
// it is where the bundle cannot load.
export function startEditors(): void {
  found<HTMLTextAreaElement>("textarea[data-code]", async (area) => {
    const address = area.dataset["code"];
    if (!address || area.dataset["mounted"]) return;
    area.dataset["mounted"] = "yes";
    const { mount } = (await import(address)) as Pick<typeof import("./editor-sql"), "mount">;
    mount(area);
  });
}

// startForms wires what belongs to SQL forms: data-abort breaks a request off,
// data-plain submits a form by the browser itself (for a download), data-spot leads to
// a place in a text, and an answer that names the place of a fault marks it and puts
// the cursor there.
export function startForms(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("[data-abort], [data-plain], [data-spot]");
    if (!button) return;
    if (button.dataset["spot"]) return leadTo(button);
    if (button.dataset["abort"]) {
      document.querySelector(button.dataset["abort"])?.dispatchEvent(new Event("htmx:abort"));
      return;
    }
    event.preventDefault();
    if (button.form) plain(button.form, button.formAction);
  });
  // What is said of a text that is being typed moves its mark, and never the cursor.
  found<HTMLElement>("[data-fails]", ({ dataset: { fails = "", wrong = "", wrongLine, wrongColumn } }) => {
    const detail = wrongLine ? { line: Number(wrongLine), column: Number(wrongColumn), text: wrong } : undefined;
    document.querySelector(`[data-editor="${CSS.escape(fails)}"]`)?.dispatchEvent(new CustomEvent("dogear:wrong", { detail }));
  });
  found<HTMLElement>("[data-fault-line]", (note) => {
    const line = Number(note.dataset["faultLine"]);
    const column = Number(note.dataset["faultColumn"]);
    const near = note.closest(".part") ?? document;
    if (line <= 0) return;
    const editor = near.querySelector("[data-editor]");
    editor?.dispatchEvent(new CustomEvent("dogear:wrong", { detail: { line, column, text: note.innerText } }));
    editor?.dispatchEvent(new CustomEvent("dogear:go", { detail: { line, column } }));
  });
}

// leadTo puts the cursor at the place that a message names, also where the text is no
// editor but a plain field.
function leadTo(button: HTMLElement): void {
  const { spot = "", line, column } = button.dataset;
  const at = { line: Number(line), column: Number(column) };
  const editor = document.querySelector(`[data-editor="${CSS.escape(spot)}"]`);
  if (editor) {
    editor.dispatchEvent(new CustomEvent("dogear:go", { detail: at }));
    return;
  }
  const field = document.querySelector<HTMLTextAreaElement>(`textarea[name="${CSS.escape(spot)}"]`);
  if (!field) return;
  const before = field.value.split("\n").slice(0, at.line - 1).join("\n").length + (at.line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(before + Math.max(at.column - 1, 0), before + Math.max(at.column - 1, 0));
}

// plain sends the fields of form to action without htmx.
function plain(form: HTMLFormElement, action: string): void {
  const copy = document.createElement("form");
  copy.method = "post";
  copy.action = action;
  copy.hidden = true;
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== "string") continue;
    const field = document.createElement("textarea");
    field.name = name;
    field.value = value;
    copy.append(field);
  }
  document.body.append(copy);
  copy.submit();
  copy.remove();
}
