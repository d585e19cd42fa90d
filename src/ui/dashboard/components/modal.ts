import type { Attachment } from 'svelte/attachments';

/**
 * `modal` opens a dialog over the page and restores the focus when the dialog is removed. It calls `closed` in the same
 * event in which the user closes the dialog.
 */
export function modal(closed: () => void): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const before = document.activeElement;
    const open = new AbortController();
    const onCancel = (event: Event): void => {
      // The cancel event of a file field bubbles up to here too.
      if (event.target !== dialog) return;
      // The browser would fire `close` in a later task, after the next key may have reopened the dialog.
      event.preventDefault();
      closed();
    };
    dialog.addEventListener('cancel', onCancel, { signal: open.signal });
    // A browser closes a dialog without a cancelable event if the user has not interacted with it since the last one.
    dialog.addEventListener('close', closed, { signal: open.signal });
    dialog.showModal();
    return () => {
      open.abort();
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  };
}
