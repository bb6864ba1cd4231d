// A small list of choices at a point of the page: conditions of an edge, all or
// any, what to add. It takes the focus and gives it back.
export interface Choice {
  label: string;
  icon?: string;
  keys?: string; // that do the same
  current?: boolean;
  act: () => void;
}

// Search is a field over the choices: what is typed narrows them, and more, where
// it is, asks for those that are not among them.
export interface Search {
  hint: string;
  more?: (text: string) => Promise<Choice[]>;
}

export interface Spot {
  clientX: number;
  clientY: number;
}

let open: { box: HTMLElement; done: () => void } | undefined;

export function closeMenu(): void {
  open?.done();
}

export function menu(root: HTMLElement, at: Spot, label: string, choices: Choice[], sprite: string, search?: Search): void {
  closeMenu();
  const back = document.activeElement as HTMLElement | null;
  const box = document.createElement("div");
  box.className = "choice";
  box.setAttribute("role", "menu");
  box.setAttribute("aria-label", label);
  const heading = document.createElement("p");
  heading.textContent = label;
  box.append(heading);
  const field = document.createElement("input");
  if (search) {
    field.className = "input";
    field.placeholder = search.hint;
    field.setAttribute("aria-label", search.hint);
    box.append(field);
  }
  const items = choices.map((choice) => item(choice, sprite, () => done()));
  const list = document.createElement("div");
  list.append(...items);
  box.append(list);

  const done = () => {
    if (open?.box !== box) return;
    open = undefined;
    document.removeEventListener("pointerdown", outside, true);
    document.removeEventListener("keydown", escape, true);
    box.remove();
    back?.focus({ preventScroll: true });
  };
  const outside = (event: Event) => {
    if (!box.contains(event.target as Node)) done();
  };
  // Wherever the focus has gone, Escape closes the menu and nothing else.
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    done();
  };
  let found: HTMLButtonElement[] = []; // by search.more
  let looking: Promise<void> | undefined;
  const look = async (wanted: string): Promise<void> => {
    const more = await search!.more!(wanted);
    if (field.value !== wanted) return;
    for (const i of found) i.remove();
    found = more.map((choice) => item(choice, sprite, () => done()));
    list.append(...found);
  };
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const i of items) i.hidden = !i.textContent!.toLowerCase().includes(wanted);
    if (search?.more) looking = look(field.value);
  });
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const seen = [...items.filter((i) => !i.hidden), ...found];
    const here = seen.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "ArrowDown") seen[(here + 1) % seen.length]?.focus();
    else if (event.key === "ArrowUp") seen[(here - 1 + seen.length) % seen.length]?.focus();
    else if (event.key === "Enter" && event.target === field) void Promise.resolve(looking).then(() => (items.find((i) => !i.hidden) ?? found[0])?.click());
    else return;
    event.preventDefault();
  });
  document.addEventListener("pointerdown", outside, true);
  document.addEventListener("keydown", escape, true);
  root.append(box);
  open = { box, done };
  const frame = root.getBoundingClientRect();
  const x = Math.min(at.clientX - frame.left, frame.width - box.offsetWidth - 8);
  const y = Math.min(at.clientY - frame.top, frame.height - box.offsetHeight - 8);
  box.style.transform = `translate(${Math.max(x, 8)}px,${Math.max(y, 8)}px)`;
  (search ? field : (items.find((i) => i.getAttribute("aria-checked") === "true") ?? items[0]))?.focus({ preventScroll: true });
}

let named = 0; // ids given to the words of choices

function item(choice: Choice, sprite: string, done: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("role", choice.current === undefined ? "menuitem" : "menuitemradio");
  if (choice.current !== undefined) button.setAttribute("aria-checked", String(choice.current));
  if (choice.icon) button.append(picture(sprite, choice.icon));
  const words = document.createElement("span");
  words.className = "clip";
  words.textContent = choice.label;
  button.append(words);
  if (choice.keys) {
    const keys = document.createElement("kbd");
    keys.textContent = choice.keys;
    button.append(keys);
    button.setAttribute("aria-keyshortcuts", choice.keys.replace("Ctrl", "Control"));
    words.id = `choice-${++named}`;
    button.setAttribute("aria-labelledby", words.id);
  }
  button.addEventListener("click", () => {
    done();
    choice.act();
  });
  return button;
}

function picture(sprite: string, name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "ic");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}
