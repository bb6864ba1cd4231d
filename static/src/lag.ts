// What waits in the sources of the jobs on a canvas: each card says how much
// and for how long. It is asked for after the page is there, many cards at once: the
// server answers after a while with those it knows by then, because a listing takes
// its time, and the rest are asked for again. So are all when a bookmark moves.
import { found } from "./watch";

interface Lag {
  text: string;
  title: string;
  hue: string;
  icon: string;
  paused: boolean;
  marks: number;
}

const atOnce = 200; // jobs in one request, as the server bounds it
const rest = 60_000; // ms until what arrives without anybody's doing is looked for

const waiting = new Set<string>(); // jobs that are to be asked about
let asking = false;

export function startLag(): void {
  const again = () => {
    for (const card of document.querySelectorAll<HTMLElement>(cards)) ask(card);
  };
  found<HTMLElement>(cards, ask);
  document.body.addEventListener("dogear:bookmarks-changed", again);
  setInterval(() => document.visibilityState === "visible" && again(), rest);
}

const cards = "dog-canvas .nodes > [data-kind=job]";

function ask(card: HTMLElement): void {
  const id = card.dataset["id"];
  if (!id?.startsWith("job-")) return;
  waiting.add(id.slice("job-".length));
  if (!asking) void work();
}

async function work(): Promise<void> {
  asking = true;
  await Promise.resolve(); // until all cards of the page have asked
  while (waiting.size > 0) {
    const jobs = [...waiting].slice(0, atOnce);
    try {
      const answer = await fetch(`/api/ui/lags?${new URLSearchParams(jobs.map((job) => ["job", job]))}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) break; // asked again at the next look
      const lags = Object.entries((await answer.json()) as Record<string, Lag>);
      if (lags.length === 0) break;
      for (const [job, lag] of lags) {
        waiting.delete(job);
        show(job, lag);
      }
    } catch {
      break; // the server is away; the page says so, and asks again when it is back
    }
  }
  asking = false;
}

function show(job: string, lag: Lag): void {
  const card = document.getElementById(`node-job-${job}`);
  if (!card) return;
  card.dataset["marks"] = lag.marks === 0 ? "" : lag.paused ? "paused" : "on";
  let chip = card.querySelector<HTMLElement>(".lag");
  if (!lag.text) return chip?.remove();
  if (!chip) {
    chip = document.createElement("span");
    chip.innerHTML = '<svg class="ic" aria-hidden="true"><use></use></svg><span></span>';
    card.append(chip);
  }
  chip.className = `lag pill ${lag.hue}`;
  chip.title = lag.title;
  chip.querySelector("use")!.setAttribute("href", `/static/sprite.svg#${lag.icon}`);
  chip.querySelector("span")!.textContent = lag.text;
}
