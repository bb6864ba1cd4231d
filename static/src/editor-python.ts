// The Python editor, loaded only where there is a script to write.
import { python } from "@codemirror/lang-python";
import { indentUnit } from "@codemirror/language";
import * as code from "./editor-code";

export function mount(area: HTMLTextAreaElement): void {
  code.mount(area, python, [indentUnit.of("    ")]);
}
