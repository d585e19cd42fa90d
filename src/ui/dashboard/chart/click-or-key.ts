import type { Attachment } from 'svelte/attachments';

/** Makes an element activatable like a button: by a click, Enter or the space bar. */
export function clickOrKey(press: () => void): Attachment<Element> {
  const onKey = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    press();
  };
  return (element) => {
    element.addEventListener('click', press);
    element.addEventListener('keydown', onKey);
    return () => {
      element.removeEventListener('click', press);
      element.removeEventListener('keydown', onKey);
    };
  };
}
