/**
 * Asks before the page is left, or a link to another view is followed, with something that was not saved. Returns what
 * ends this.
 */
export function guardLeaving(isUnsaved: () => boolean): () => void {
  const unload = (event: BeforeUnloadEvent): void => {
    if (isUnsaved()) event.preventDefault();
  };
  const follow = (event: MouseEvent): void => {
    const { target } = event;
    const link = target instanceof Element ? target.closest('a[href^="#/"]') : null;
    if (link === null || link.getAttribute('href') === location.hash || !isUnsaved()) return;
    if (!confirm('Leave without saving? What was changed is lost.')) event.preventDefault();
  };
  addEventListener('beforeunload', unload);
  addEventListener('click', follow, { capture: true });
  return () => {
    removeEventListener('beforeunload', unload);
    removeEventListener('click', follow, { capture: true });
  };
}
