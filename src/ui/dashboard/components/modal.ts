import type { Attachment } from 'svelte/attachments';

/**
 * `modal` opens a dialog over the page and gives the focus back when the dialog is taken away; it calls `closed` in the
 * very event in which somebody leaves the dialog.
 */
export function modal(closed: () => void): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const before = document.activeElement;
    const open = new AbortController();
    const onCancel = (event: Event): void => {
      // That of a field for files rises to here too.
      if (event.target !== dialog) return;
      // The browser would tell of a closing of its own in a later task, when the next key may have opened the dialog anew.
      event.preventDefault();
      closed();
    };
    dialog.addEventListener('cancel', onCancel, { signal: open.signal });
    // A browser closes a dialog without asking when nothing was pressed in it since it last asked.
    dialog.addEventListener('close', closed, { signal: open.signal });
    dialog.showModal();
    return () => {
      open.abort();
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  };
}
