/**
 * Returns whether keys belong to what has the focus, such as a field or a dialog, and not to the page. What stands in a
 * shadow tree, as the editor does, is named by the path of the event alone.
 */
export function isTyping(event: Event): boolean {
  const [target] = event.composedPath();
  if (document.querySelector('dialog[open]') !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select') !== null;
}
