// The SQL editor, loaded only where there is SQL to write.
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import * as code from "./editor-code";

export function mount(area: HTMLTextAreaElement): void {
  code.mount(area, () => sql({ dialect: PostgreSQL, schema: words(area), upperCaseKeywords: true }));
}

// words are the tables and columns that completion offers.
function words(area: HTMLTextAreaElement): Record<string, string[]> {
  const source = document.getElementById(area.dataset["words"] ?? "");
  try {
    return JSON.parse(source?.textContent || "{}") as Record<string, string[]>;
  } catch {
    return {};
  }
}
