import type { Turn } from '../../../machines/channels/turn.ts';
import type { Clock } from '../../ports/clock.ts';
import { rest } from '../../rest.ts';
import type { AgentSurface, TaskEar } from './agent-surface.ts';

/** Delay before a task is first followed, in milliseconds; most tasks have ended by then. */
const firstPause = 200;

const longestPause = 10_000;

export interface FollowPorts {
  surface: Pick<AgentSurface, 'follow'>;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Follows the task of a message until the signal aborts. Reopens a stream that ends or fails, with pauses that grow
 * until the next event. Never rejects.
 */
export async function followTurn(turn: Turn, ear: TaskEar, ports: FollowPorts): Promise<void> {
  const { surface, clock, signal } = ports;
  let pause = firstPause;
  const heard =
    <Said extends unknown[]>(tell: (...said: Said) => void) =>
    (...said: Said) => {
      pause = firstPause;
      tell(...said);
    };
  const hearing: TaskEar = {
    held: heard((call) => ear.held(call)),
    resumed: heard(() => ear.resumed()),
    ended: heard((end) => ear.ended(end)),
  };
  while (!signal.aborted) {
    await rest(pause, clock, signal);
    if (signal.aborted) return;
    pause = Math.min(longestPause, pause * 2);
    // The request that runs the task reports agent errors; the follower only retries.
    await surface.follow(turn, hearing, signal).catch(() => undefined);
  }
}
