// Lengths of time, as views/show writes them: running ones like a clock.
export function clock(ms: number): string {
  const s = Math.max(Math.floor(ms / 1000), 0);
  const two = (n: number) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

// length writes a time that is over.
export function length(ms: number): string {
  const s = Math.max(ms, 0) / 1000;
  if (ms >= 1 && ms < 50) return `${Math.floor(ms)} ms`; // which would be 0.0 s
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)} min ${two(s % 60)} s` : `${Math.floor(s / 3600)} h ${two((s / 60) % 60)} min`;
}
