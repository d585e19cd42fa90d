/**
 * Calls `seen` once every end in an element, marked with `data-end`, has been in view: that of the call, and that of each
 * long argument, which scrolls by itself. Returns what ends this.
 */
export function seenToEnd(element: HTMLElement, seen: () => void): () => void {
  // What the bar with the decision covers is not in view.
  const decide = document.querySelector('.one .decide');
  const isOver = decide !== null && getComputedStyle(decide).position === 'sticky';
  const bar = isOver ? decide.getBoundingClientRect().height : 0;
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

/** Brings the next end into view that was not seen, of the call that is shown. */
export function showNextEnd(): void {
  const ends = [...document.querySelectorAll('.one [data-end]')];
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
