/**
 * Calls `seen` once every element marked with `data-end` has been visible: the end of the call, and the end of each
 * long argument, which scrolls separately. Returns a function that stops observing.
 */
export function seenToEnd(element: HTMLElement, seen: () => void): () => void {
  // Content covered by the decision bar is not visible.
  const bars = element.closest('.one')?.querySelectorAll('[data-bar]') ?? [];
  const bar = Math.max(0, ...[...bars].map(heightOver));
  const unseen = new Set<Element>(element.querySelectorAll('[data-end]'));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        unseen.delete(target);
        observer.unobserve(target);
      }
      if (unseen.size === 0) seen();
    },
    { rootMargin: `0px 0px -${Math.ceil(bar)}px 0px` },
  );
  for (const end of unseen) observer.observe(end);
  return () => observer.disconnect();
}

/** Height in pixels of a bar that covers the end of the window. */
function heightOver(bar: Element): number {
  return getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().height : 0;
}

/** Scrolls to the next unseen end of the displayed call. */
export function showNextEnd(root: ParentNode | null = document.querySelector('.one')): void {
  const ends = [...(root?.querySelectorAll('[data-end]') ?? [])];
  const next = ends.find((end) => !isInView(end)) ?? ends.at(-1);
  next?.scrollIntoView({ block: 'center' });
}

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const box = element.closest('.long')?.getBoundingClientRect();
  const [from, to] = [
    Math.max(0, box?.top ?? 0),
    Math.min(innerHeight, box?.bottom ?? innerHeight),
  ];
  return top >= from && bottom <= to;
}
