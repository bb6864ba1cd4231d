// The code editor without its language; editor-sql and editor-python have one
// each, and a page loads the one that it needs.
import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, LanguageSupport, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Extension } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { Wrong, look as wrongLook, mark, marks, offset } from "./editor-wrong";
import { found } from "./watch";

const look = EditorView.theme({
  "&": { fontSize: "12px", color: "var(--ink)", background: "var(--surface)", border: "1px solid var(--line-strong)", borderRadius: "7px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", fontVariantLigatures: "none", lineHeight: "1.6", minHeight: "var(--editor-height, 120px)", maxHeight: "60vh" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--surface)", color: "var(--ink-3)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--surface-2) 60%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft) !important" },
  ".cm-tooltip": { background: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "7px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent-ink)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
  { tag: tags.typeName, color: "var(--run)" },
]);

// mount puts an editor before area and keeps area's value equal to it. The
// editor lives in a shadow root: there its styles are constructed sheets,
// which the page's content security policy allows.
export function mount(area: HTMLTextAreaElement, speak: () => LanguageSupport, more: Extension[] = []): void {
  const host = document.createElement("div");
  host.dataset["editor"] = area.name;
  area.before(host);
  const root = host.attachShadow({ mode: "open" });
  host.style.setProperty("--editor-height", `${area.offsetHeight || 120}px`);
  const submit = () => {
    area.form?.requestSubmit(area.form.querySelector<HTMLElement>("[data-run-sql]"));
    return true;
  };
  const language = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": area.getAttribute("aria-label") ?? "Code" }),
        ...more,
        keymap.of([{ key: "Mod-Enter", run: submit }, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        language.of(speak()),
        syntaxHighlighting(colours),
        look,
        marks,
        wrongLook,
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          area.value = update.state.doc.toString();
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  area.hidden = true;
  area.required = false; // a hidden field cannot say that it is empty; the server does
  // Names may come after the editor, and come anew when a form changes.
  if (area.dataset["words"]) {
    found(`#${area.dataset["words"]}`, () => view.dispatch({ effects: language.reconfigure(speak()) }));
  }
  host.addEventListener("dogear:go", (event) => goTo(view, (event as CustomEvent<{ line: number; column: number }>).detail));
  host.addEventListener("dogear:wrong", (event) => mark(view, (event as CustomEvent<Wrong | null>).detail ?? undefined));
  const { wrong, wrongLine, wrongColumn } = area.dataset;
  if (wrongLine) mark(view, { line: Number(wrongLine), column: Number(wrongColumn), text: wrong ?? "" });
}

// goTo puts the cursor where an error was found: at its mark, while that is there.
function goTo(view: EditorView, at: { line: number; column: number }): void {
  view.dispatch({ selection: { anchor: view.state.field(marks)?.place ?? offset(view.state.doc, at) }, scrollIntoView: true });
  view.focus();
}
