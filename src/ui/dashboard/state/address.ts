/** Says whether leaving would lose something; `null` while nobody asks. */
let isUnsaved: ((to: string | null) => boolean) | null = null;

/**
 * Asks before the page or its address is left with something that was not saved. `unsaved` is told the fragment that is
 * gone to, `null` for leaving the page. Returns what ends this.
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

/** Asks a person whether what was not saved may be lost. */
export function confirmLeaving(): boolean {
  return confirm('Leave without saving? What was changed is lost.');
}

/**
 * Tells of each new fragment of the address, be it by a link, the Back button, a key or the address bar. It asks first
 * where something would be lost; whoever stays is put back to the same place in the history. Returns what ends this.
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
    // An entry that has no place yet was made by this step.
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

/** Puts another fragment in the place of the one at hand, in the history too; it is told of as a link's is, afterwards. */
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
