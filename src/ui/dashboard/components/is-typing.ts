/**
 * Returns true if a key belongs to the focused element, such as a field or a dialog, and not to the page. Elements in a
 * shadow tree, such as the editor, are only visible in the event's path.
 */
export function isTyping(event: Event): boolean {
  const [target] = event.composedPath();
  if (document.querySelector('dialog[open]') !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest('input:not([type=checkbox]), textarea, select') !== null
  );
}
