// Every key of the canvas, in one table: the handlers and the sheet of keys are
// made from it. Letters act only while the canvas has the focus.
export interface Key {
  keys: string[]; // as event.key, with Mod+ and Shift+ before it
  act: string;
  does: string;
  edits?: boolean;
  browser?: boolean; // the browser turns it into an event of its own
}

export const table: Key[] = [
  { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], act: "arrow", does: "Focus the next card that way" },
  { keys: ["]", "["], act: "edge", does: "Focus the next or previous edge that leaves the card" },
  { keys: ["Home", "End"], act: "ends", does: "First or last card" },
  { keys: ["Enter"], act: "open", does: "Open the details; in connect mode: connect" },
  { keys: [" "], act: "toggle", does: "Add the card to the selection or remove it" },
  { keys: ["Mod+a"], act: "all", does: "Select everything" },
  { keys: ["Escape"], act: "cancel", does: "Cancel, or clear the selection" },
  { keys: ["c"], act: "connect", does: "Connect from the focused card: arrows choose, Enter connects", edits: true },
  { keys: ["x"], act: "cut", does: "Cut the focused edge", edits: true },
  { keys: ["e"], act: "condition", does: "Change the condition of the focused edge", edits: true },
  { keys: ["a", "Insert"], act: "add", does: "Add a card after the focused one", edits: true },
  { keys: ["F2"], act: "rename", does: "Rename the focused card", edits: true },
  { keys: ["Mod+d"], act: "duplicate", does: "Duplicate the selection", edits: true },
  { keys: ["Mod+c", "Mod+x", "Mod+v"], act: "clipboard", does: "Copy, cut, paste; also into another workflow", browser: true },
  { keys: ["m"], act: "move", does: "Move with the arrows; Enter drops, Escape restores", edits: true },
  { keys: ["Delete", "Backspace"], act: "delete", does: "Delete the selection", edits: true },
  { keys: ["Mod+Delete", "Mod+Backspace"], act: "heal", does: "Delete, and connect what stood before with what came after", edits: true },
  { keys: ["Mod+z"], act: "undo", does: "Undo", edits: true },
  { keys: ["Mod+Shift+z", "Mod+y"], act: "redo", does: "Redo", edits: true },
  { keys: ["d"], act: "disable", does: "Turn the trigger on or off", edits: true },
  { keys: ["Shift+T"], act: "tidy", does: "Tidy up", edits: true },
  { keys: ["+", "="], act: "zoom-in", does: "Zoom in" },
  { keys: ["-"], act: "zoom-out", does: "Zoom out" },
  { keys: ["0"], act: "zoom-1", does: "Zoom to 100 %" },
  { keys: ["1"], act: "fit", does: "Show everything" },
  { keys: ["Shift+>"], act: "follow", does: "Keep the running card in view" },
  { keys: ["f", "Shift+F"], act: "fallen", does: "Next or previous card of a run that failed" },
  { keys: ["/"], act: "find", does: "Find a card" },
  { keys: ["ContextMenu", "Shift+F10"], act: "menu", does: "What can be done with the focused card" },
  { keys: ["?"], act: "keys", does: "This list" },
];

const byKey = new Map(table.filter((entry) => !entry.browser).flatMap((entry) => entry.keys.map((name) => [name, entry] as const)));

// named is an event as the table writes it. A sign that needs Shift anyway, such
// as "?", stands there without it.
export function named(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? "Mod+" : "";
  const letter = mod && event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && (mod || event.key.length > 1 || /[A-Z>]/.test(event.key)) ? "Shift+" : "";
  return mod + shift + letter;
}

export const find = (event: KeyboardEvent): Key | undefined =>
  event.altKey ? undefined : (byKey.get(named(event)) ?? (event.shiftKey ? byKey.get(named(event).replace("Shift+", "")) : undefined));

// showKeys lists the keys in a dialog.
export function showKeys(): void {
  const dialog = document.createElement("dialog");
  dialog.dataset["show"] = "";
  dialog.setAttribute("aria-label", "Keys of the canvas");
  const sheet = document.createElement("div");
  sheet.className = "sheet keys";
  const heading = document.createElement("h2");
  heading.textContent = "Keys of the canvas";
  heading.tabIndex = -1;
  heading.autofocus = true; // else the focus is on Close, and the list scrolled to its end
  const list = document.createElement("dl");
  for (const { keys, does } of table) {
    const dt = document.createElement("dt");
    for (const key of keys) {
      const kbd = document.createElement("kbd");
      kbd.textContent = key.replace("Mod", "Ctrl").replace("Arrow", "").replace(/^ $/, "Space");
      dt.append(kbd, " ");
    }
    const dd = document.createElement("dd");
    dd.textContent = does;
    list.append(dt, dd);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn";
  close.dataset["close"] = "";
  close.textContent = "Close";
  sheet.append(heading, list, close);
  dialog.append(sheet);
  document.body.append(dialog);
}
