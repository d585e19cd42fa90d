/**
 * Throttles a count to once per `pause` milliseconds. The first value is passed on immediately, and the last one
 * always, after its pause, unless stopped before.
 */
export function pace(pause: number, pass: (count: number) => void) {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let waiting: number | null = null;
  const rest = (): void => {
    timer = setTimeout(() => {
      timer = null;
      if (waiting === null) return;
      const count = waiting;
      waiting = null;
      pass(count);
      rest();
    }, pause);
  };
  return {
    give: (count: number): void => {
      if (timer !== null) {
        waiting = count;
        return;
      }
      pass(count);
      rest();
    },
    stop: (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting = null;
    },
  };
}
