import type { Output } from './output.ts';

/** Milliseconds before a wait is shown and between updates of the display. */
const interval = 1_000;

/**
 * Shows on a terminal that the command is waiting, after a delay of one second. Returns a function that stops the
 * display and clears the line.
 */
export function showProgress({ stderr }: Output, text: string): () => void {
  if (stderr.isTTY !== true) return () => undefined;
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    stderr.write(`\r\u001b[K${text} (${seconds}s)`);
  }, interval);
  return () => {
    clearInterval(timer);
    if (seconds > 0) stderr.write('\r\u001b[K');
  };
}
