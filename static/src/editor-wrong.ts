// What is wrong in the text of an editor: its line and word are marked, and the field
// says so to a screen reader. A mark goes once its line is changed.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, DecorationSet, EditorView } from "@codemirror/view";

// Wrong is a place in a text and what is said of it; lines and columns count from 1, and
// a column of 0 is the whole line.
export interface Wrong {
  line: number;
  column: number;
  text: string;
}

const set = StateEffect.define<Wrong | undefined>();

const line = Decoration.line({ class: "cm-wrong" });
const word = Decoration.mark({ class: "cm-wrongWord" });
const described = "wrong"; // the id of what is said, within the editor's shadow root

interface Mark {
  drawn: DecorationSet;
  place: number;
}

export const marks = StateField.define<Mark | undefined>({
  create: () => undefined,
  update(now, { changes, docChanged, effects, state, startState }) {
    for (const effect of effects) if (effect.is(set)) return effect.value && at(state.doc, effect.value);
    if (!docChanged || !now) return now;
    const { from, to } = startState.doc.lineAt(now.place);
    return changes.touchesRange(from, to) ? undefined : { drawn: now.drawn.map(changes), place: changes.mapPos(now.place) };
  },
  provide: (field) => [
    EditorView.decorations.from(field, (now) => now?.drawn ?? Decoration.none),
    EditorView.contentAttributes.from(field, (now): Record<string, string> => (now ? { "aria-invalid": "true", "aria-describedby": described } : {})),
  ],
});

export const look = EditorView.theme({
  ".cm-wrong": { background: "var(--warn-soft)", boxShadow: "inset 3px 0 0 var(--warn)" },
  ".cm-wrongWord": { textDecoration: "underline wavy var(--warn)", textUnderlineOffset: "3px" },
});

// offset is where a place stands in a document. Columns count characters.
export function offset(doc: { lines: number; line(n: number): { from: number; to: number; text: string } }, place: { line: number; column: number }): number {
  const found = doc.line(Math.min(Math.max(place.line, 1), doc.lines));
  return Math.min(found.from + [...found.text].slice(0, Math.max(place.column - 1, 0)).join("").length, found.to);
}

function at(doc: EditorView["state"]["doc"], wrong: Wrong): Mark {
  const place = offset(doc, wrong);
  const { from, text } = doc.lineAt(place);
  const length = wrong.column > 0 ? (/^(\w+|\S)/.exec(text.slice(place - from))?.[0].length ?? 0) : 0;
  return { place, drawn: Decoration.set(length > 0 ? [line.range(from), word.range(place, place + length)] : [line.range(from)]) };
}

// mark marks a place, and lets go of the one before; without a place it only lets go.
export function mark(view: EditorView, wrong?: Wrong): void {
  const root = view.root as ShadowRoot;
  const said = root.getElementById(described) ?? root.appendChild(Object.assign(document.createElement("span"), { id: described, hidden: true }));
  said.textContent = wrong?.text ?? "";
  view.dispatch({ effects: set.of(wrong) });
}
