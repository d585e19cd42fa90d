import type { Unseen } from './attention-machine.ts';

export interface WatchedEdges {
  /** Scrolls to the first edge that has not been visible. */
  showNext: () => void;
  stop: () => void;
}

/** Milliseconds after which an edge that something covers is looked at again. */
const pause = 200;

/**
 * Reports which elements marked with `data-edge` have been visible: inside of the window and of every scrolled part, and
 * covered by nothing, such as a bar or a dialog. The start and the end of each part of a call are edges. Elements that
 * come later count as well.
 */
export function watchEdges(root: HTMLElement, report: (unseen: Unseen) => void): WatchedEdges {
  const seen = new WeakSet<Element>();
  const watched = new Set<Element>();
  /** Edges inside of the window that were covered when they were looked at. */
  const near = new Set<Element>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) near.add(target);
      else near.delete(target);
    }
    look();
  });
  const mutations = new MutationObserver(scan);

  function scan(): void {
    const now = new Set(root.querySelectorAll('[data-edge]'));
    for (const edge of watched) {
      if (now.has(edge)) continue;
      observer.unobserve(edge);
      watched.delete(edge);
      near.delete(edge);
    }
    for (const edge of now) {
      if (seen.has(edge) || watched.has(edge)) continue;
      watched.add(edge);
      observer.observe(edge);
    }
    tell();
  }

  function look(): void {
    if (document.visibilityState === 'visible') {
      for (const edge of near) {
        if (isCovered(edge, root)) continue;
        seen.add(edge);
        near.delete(edge);
        watched.delete(edge);
        observer.unobserve(edge);
      }
    }
    if (near.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else timer ??= setInterval(look, pause);
    tell();
  }

  function tell(): void {
    const news = [...root.querySelectorAll<HTMLElement>('[data-news]')];
    report({
      edges: watched.size,
      seenNews: news
        .filter((one) => [...one.querySelectorAll('[data-edge]')].every((edge) => seen.has(edge)))
        .map((one) => one.dataset['news'] ?? ''),
    });
  }

  mutations.observe(root, { childList: true, subtree: true });
  scan();
  return {
    showNext() {
      const edge = [...root.querySelectorAll('[data-edge]')].find((one) => watched.has(one));
      if (edge === undefined) return;
      // The page itself stays where it is if the part that scrolls is in the window.
      const part = edge.closest('[data-scrolls]');
      part?.scrollBy({
        top: edge.getBoundingClientRect().top - part.getBoundingClientRect().top - 48,
      });
      edge.scrollIntoView({ block: 'nearest' });
    },
    stop() {
      observer.disconnect();
      mutations.disconnect();
      clearInterval(timer);
    },
  };
}

/** Returns true if something outside of `root` is drawn over an edge. */
function isCovered(edge: Element, root: HTMLElement): boolean {
  const { left, top, width, height } = edge.getBoundingClientRect();
  return !root.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}
