import { describe, expect, it } from 'vitest';
import type { WorkspaceAgent } from '../../../src/actors/workspace/workspace.ts';
import { DashboardHub } from '../../../src/http/dashboard/dashboard-hub.ts';
import { HeldCalls } from '../../../src/http/dashboard/held-calls.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aDeferral } from '../../helpers/page-server.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Held calls of one agent that answers when the test says so, in the order in which it was asked. */
function held() {
  const asked: ((ids: string[]) => void)[] = [];
  const agent = {
    id: 'till',
    line: () => ({
      json({ path }: { path: string }) {
        if (!path.startsWith('/deferrals')) {
          return Promise.resolve({ status: 200, body: { tasks: [] } });
        }
        return new Promise((resolve) => {
          asked.push((ids) =>
            resolve({ status: 200, body: { deferrals: ids.map((id) => aDeferral({ id })) } }),
          );
        });
      },
    }),
  } as unknown as WorkspaceAgent;
  const hub = new DashboardHub('run');
  const clock = new ManualClock(0);
  const calls = new HeldCalls({ clock, log, hub });
  const read = async () => {
    const { deferrals, unasked } = await calls.of([agent]);
    return [deferrals.map(({ id }) => id), unasked];
  };
  const change = () =>
    hub.tell('deferral', { agent_id: 'till', pending: 0, deferral: null, task_id: 't' });
  return { asked, clock, read, change };
}

describe('what waits in an agent', () => {
  it('is asked for once by all who read at the same time', async () => {
    const { asked, read } = held();
    const both = [read(), read()];
    expect(asked).toHaveLength(1);
    asked[0]?.(['d-1']);
    expect(await Promise.all(both)).toEqual([
      [['d-1'], []],
      [['d-1'], []],
    ]);
  });

  it('is asked for anew by who reads after a change was told, which the one on its way may not know', async () => {
    const { asked, read, change } = held();
    const before = read();
    change();
    const after = read();
    expect(asked).toHaveLength(2);
    asked[1]?.([]);
    asked[0]?.(['d-1']);
    expect(await Promise.all([before, after])).toEqual([
      [['d-1'], []],
      [[], []],
    ]);
    void read();
    expect(asked).toHaveLength(3);
  });

  it('is not what an agent said too late once a change was told', async () => {
    const { asked, clock, read, change } = held();
    const first = read();
    clock.advance(1_000);
    expect(await first).toEqual([[], ['till']]);
    asked[0]?.(['d-1']);
    await new Promise(setImmediate);
    change();
    const second = read();
    clock.advance(1_000);
    expect(await second).toEqual([[], ['till']]);
  });
});
