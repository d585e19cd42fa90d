import type { Output } from './output.ts';

/** Milliseconds after which a wait is shown, and between the changes of what is shown. */
const interval = 1_000;

/**
 * Shows on a terminal that the command waits, from the first second on. Returns a function that stops it and clears the
 * line.
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
