/** Runs a callback at an interval in milliseconds without keeping the process alive; the returned function stops it. */
export type Every = (milliseconds: number, run: () => void) => () => void;

/** Uses the timers of this machine. */
export const everyInterval: Every = (milliseconds, run) => {
  const timer = setInterval(run, milliseconds).unref();
  return () => clearInterval(timer);
};
