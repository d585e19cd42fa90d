import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock } from './manual-clock.ts';
import { aDeferRule } from './task-fixtures.ts';
import { reached } from './test-agent.ts';
import { startTestSurface, type TestSurfaceOptions } from './test-surface.ts';
import { nine } from './test-system.ts';

/** A script whose one call waits for a person. */
export const paying = [{ tool: 'pay' }, { say: '{result}' }];

/** A surface where `pay` waits for a person for an hour and `vault` requires a caller of level gold. */
export async function serveHolds({ tools, ...options }: TestSurfaceOptions = {}) {
  const clock = new ManualClock(nine);
  const surface = await startTestSurface({
    clock,
    tools: { pay: () => 'paid', vault: () => 'open', ...tools },
    rules: {
      pay: { defer: aDeferRule({ to: ['channel:console:desk'], timeout: 3_600_000 }) },
      vault: { requiredAcr: 'gold' },
    },
    ...options,
  });
  const { client } = surface;
  const approve = () => client.decide('t1', { decision: 'approve' });
  /** Moves on by so much, no further at once than to the next heartbeat. */
  const pass = async (milliseconds: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= 25_000) {
      clock.advance(Math.min(left, 25_000));
      await turn();
    }
  };
  /** Moves on by so much once the task waits. */
  const waitFor = async (milliseconds: number): Promise<void> => {
    await reached(client, 't1', 'deferred');
    await pass(milliseconds);
  };
  return { ...surface, clock, approve, pass, waitFor };
}
