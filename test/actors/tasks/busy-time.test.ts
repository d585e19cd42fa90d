import { expect, it } from 'vitest';
import { BusyTime } from '../../../src/actors/tasks/busy-time.ts';

type Seen = Parameters<BusyTime['see']>[0];

/** As much of a task at work as is looked at. */
const atWork = (waits: object | null): Seen =>
  ({ context: { spent: { time: 0 }, waits }, hasTag: () => true }) as unknown as Seen;

it('busy time does not include the wait for a person at another program', () => {
  const busy = new BusyTime();
  busy.see(atWork(null), 1_000);
  expect(busy.until(3_000)).toBe(2_000);
  busy.see(atWork({ at: 'bank', for: 'ann@example.com' }), 3_000);
  expect(busy.until(90_000)).toBe(0);
  busy.see(atWork(null), 90_000);
  expect(busy.until(91_000)).toBe(1_000);
});
