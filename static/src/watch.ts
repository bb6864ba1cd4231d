// found calls visit for every element that matches selector, now and whenever
// one appears later, for example by a swap of htmx.
export function found<T extends Element>(selector: string, visit: (element: T) => void): void {
  const scan = (root: ParentNode) => root.querySelectorAll<T>(selector).forEach(visit);
  scan(document);
  new MutationObserver((records) => {
    for (const record of records) {
      for (const node of record.addedNodes) {
        if (!(node instanceof Element)) continue;
        if (node.matches(selector)) visit(node as unknown as T);
        scan(node);
      }
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
}
