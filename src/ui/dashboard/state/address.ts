/** Returns true if leaving would lose unsaved input; `null` if no guard is set. */
let isUnsaved: ((to: string | null) => boolean) | null = null;

/**
 * Asks for confirmation before the page or route is left with unsaved input. `unsaved` receives the new fragment,
 * `null` for leaving the page. Returns a function that removes the guard.
 */
export function guardLeaving(unsaved: (to: string | null) => boolean): () => void {
  const unload = (event: BeforeUnloadEvent): void => {
    if (unsaved(null)) event.preventDefault();
  };
  isUnsaved = unsaved;
  addEventListener('beforeunload', unload);
  return () => {
    if (isUnsaved === unsaved) isUnsaved = null;
    removeEventListener('beforeunload', unload);
  };
}

/** Asks the user whether unsaved input may be lost. */
export function confirmLeaving(): boolean {
  return confirm('Leave without saving? Your changes will be lost.');
}

/**
 * Reports each new URL fragment, from a link, the Back button, a shortcut or the address bar. First asks for
 * confirmation if input would be lost; if the user stays, restores the previous position in the history. Returns a
 * function that stops following.
 */
export function followAddress(moved: (hash: string) => void): () => void {
  let hash = location.hash;
  let place = placeOf(history.state) ?? 0;
  let returning = false;
  history.replaceState({ place }, '');
  const follow = (): void => {
    if (returning) {
      returning = false;
      return;
    }
    // A history entry without a position was created by this navigation.
    const to = placeOf(history.state) ?? place + 1;
    if (isUnsaved?.(location.hash) === true && !confirmLeaving()) {
      returning = location.hash !== hash;
      history.go(place - to);
      return;
    }
    hash = location.hash;
    place = to;
    history.replaceState({ place }, '');
    moved(hash);
  };
  addEventListener('hashchange', follow);
  return () => removeEventListener('hashchange', follow);
}

/** Replaces the current fragment, also in the history, and then reports it like a link's. */
export function redirect(hash: string): void {
  if (location.hash === hash) return;
  history.replaceState(history.state, '', hash);
  setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')));
}

function placeOf(state: unknown): number | null {
  return typeof state === 'object' && state !== null && 'place' in state
    ? Number(state.place)
    : null;
}
