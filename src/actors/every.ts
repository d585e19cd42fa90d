/**
 * Does something again and again, so many milliseconds apart, and keeps no process alive for it; the returned function
 * ends it.
 */
export type Every = (milliseconds: number, run: () => void) => () => void;

/** Goes by the time of this machine. */
export const everyInterval: Every = (milliseconds, run) => {
  const timer = setInterval(run, milliseconds).unref();
  return () => clearInterval(timer);
};
