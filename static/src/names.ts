// Renaming a source or step in a job's form renames it wherever the form
// offers it: a target keeps taking the rows of the same thing.
export function startNames(): void {
  document.body.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || !/^(source|step)\.\d+\.name$/.test(input.name)) return;
    const before = input.defaultValue;
    input.defaultValue = input.value;
    input.form?.toggleAttribute("data-unsaved", true);
    for (const option of input.form?.querySelectorAll("option") ?? []) {
      if (option.value !== before || !/^sink\.\d+\.from$/.test(option.closest("select")?.name ?? "")) continue;
      option.value = input.value;
      option.text = input.value;
    }
  });
}
