// Whether a press on another page has led to this one: the answer to a request
// sent the browser here. What is pressed right after may be meant for that page.
const key = "led";
const fresh = 5_000; // ms

// lead says that the next page is one of those.
export function lead(): void {
  sessionStorage.setItem(key, String(Date.now()));
}

// led is said once; a page that took longer to come is one that was waited for.
export function led(): boolean {
  const at = Number(sessionStorage.getItem(key) ?? 0);
  sessionStorage.removeItem(key);
  return Date.now() - at < fresh;
}
