/**
 * Passes on what it is given at most once in so many milliseconds: the first at once, and the last one always, after its
 * pause, unless it is stopped before.
 */
export function pace<Value>(pause: number, pass: (value: Value) => void) {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let waiting: { value: Value } | null = null;
  const rest = (): void => {
    timer = setTimeout(() => {
      timer = null;
      if (waiting === null) return;
      const { value } = waiting;
      waiting = null;
      pass(value);
      rest();
    }, pause);
  };
  return {
    give: (value: Value): void => {
      if (timer !== null) {
        waiting = { value };
        return;
      }
      pass(value);
      rest();
    },
    stop: (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting = null;
    },
  };
}
