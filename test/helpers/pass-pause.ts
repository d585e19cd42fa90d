import type { AnyActorRef } from 'xstate';
import type { ManualClock } from './manual-clock.ts';

/** Moves on from timer to timer, to the one that moves the newest actor of a chart. */
export function passPause(clock: ManualClock, actors: readonly AnyActorRef[]): void {
  const standing = () => actors.at(-1)?.getSnapshot();
  const before = standing();
  while (standing() === before && clock.pending > 0) clock.advance(clock.nextAt - clock.now());
}
