import { describe, expect, it } from 'vitest';
import type { WorkspaceAgent } from '../../../src/actors/workspace/workspace.ts';
import { dashboardFeed } from '../../../src/dashboard/workspace/dashboard-feed.ts';
import { HeldCalls } from '../../../src/dashboard/workspace/held-calls.ts';
import { HeldLooks } from '../../../src/dashboard/workspace/held-looks.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aDeferral } from '../../helpers/page-fixtures.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** An agent that answers when the test lets it, in the order of the requests, and a dashboard with only this agent. */
function dashboard() {
  const asked: ((ids: string[] | null) => Promise<void>)[] = [];
  const agent = {
    id: 'till',
    directory: '/agents/till',
    state: 'running',
    served: { pid: 7, host: '127.0.0.1', port: 8080, startedAt: '2026-01-01T00:00:00.000Z' } as
      | object
      | null,
    error: null,
    silentSince: null,
    flags: [],
    description: {},
    line: () => ({
      json({ path }: { path: string }) {
        if (path.startsWith('/tasks?')) {
          return Promise.resolve({ status: 200, body: { tasks: [] } });
        }
        if (!path.startsWith('/deferrals')) return Promise.resolve({ status: 404, body: {} });
        return new Promise((resolve, reject) => {
          asked.push((ids) => {
            if (ids === null) reject(new Error('the connection broke'));
            const deferrals = ids?.map((id) => aDeferral({ id, task_id: `t-${id}` }));
            resolve({ status: 200, body: { deferrals } });
            return new Promise(setImmediate);
          });
        });
      },
    }),
  };
  const told: [string, ...unknown[]][] = [];
  const hub = {
    tell(name: string, data: any) {
      if (name === 'deferral') told.push([data.task_id, data.deferral?.id ?? null, data.pending]);
      else if (name === 'agent_status') told.push([name, data.status, data.pending_deferrals]);
      else told.push([name]);
    },
  };
  const clock = new ManualClock(0);
  const looks = new HeldLooks({ clock, hub: hub as never });
  const calls = new HeldCalls({ clock, log, hub: hub as never }, looks);
  const shown = agent as unknown as WorkspaceAgent;
  const feed = dashboardFeed({ hub: hub as never, looks, log });
  /** Ids of what waits, and who could not be asked. */
  const read = async () => {
    const { deferrals, unasked } = await calls.of([shown]);
    return [deferrals.map(({ id }) => id), unasked];
  };
  return {
    ...{ asked, clock, told, read },
    count: () => looks.count('till'),
    /** Reads until the time is up. */
    readSlow() {
      const reading = read();
      clock.advance(1_000);
      return reading;
    },
    change: () => feed.onTasks(shown, ['t-1']),
    gap: () => feed.onGap(shown),
    stop() {
      agent.served = null;
      feed.onChange(shown);
    },
    remove: () => feed.onRemoved('till'),
  };
}

const settled = () => new Promise(setImmediate);

describe('the waiting calls of an agent', () => {
  it('are requested once for concurrent readers', async () => {
    const { asked, read } = dashboard();
    const first = read();
    const others = [read(), read(), read()];
    expect(asked).toHaveLength(1);
    await asked[0]?.(['d-1']);
    expect(await first).toEqual([['d-1'], []]);
    expect(asked).toHaveLength(2);
    await asked[1]?.([]);
    expect(await Promise.all(others)).toEqual(Array(3).fill([[], []]));
    void read();
    expect(asked).toHaveLength(3);
  });

  it('are requested one at a time, so that no answer replaces a newer one', async () => {
    const { asked, change, count, gap, told } = dashboard();
    gap();
    const changed = change();
    await settled();
    expect(asked).toHaveLength(1);
    await asked[0]?.(['d-1']);
    expect(asked).toHaveLength(2);
    await asked[1]?.([]);
    await changed;
    expect(count()).toBe(0);
    expect(told).toEqual([
      ['reset'],
      ['t-d-1', 'd-1', 1],
      ['agent_status', 'running', 1],
      ['t-d-1', null, 0],
      ['agent_status', 'running', 0],
    ]);
  });

  it('are sent to all after one read, and so is their end, before the agent reports it', async () => {
    const { asked, change, read, told } = dashboard();
    const reading = read();
    await asked[0]?.(['d-1']);
    expect(await reading).toEqual([['d-1'], []]);
    const changed = change();
    await settled();
    await asked[1]?.([]);
    await changed;
    expect(told).toEqual([
      ['t-d-1', 'd-1', 1],
      ['agent_status', 'running', 1],
      ['t-d-1', null, 0],
      ['agent_status', 'running', 0],
    ]);
  });

  it('are reported when one call replaces another', async () => {
    const { asked, read, told } = dashboard();
    const first = read();
    await asked[0]?.(['d-1', 'd-2']);
    await first;
    told.length = 0;
    const second = read();
    await asked[1]?.(['d-2', 'd-3']);
    expect(await second).toEqual([['d-2', 'd-3'], []]);
    expect(told).toEqual([
      ['t-d-1', null, 2],
      ['t-d-3', 'd-3', 2],
      ['agent_status', 'running', 2],
    ]);
  });

  it('are requested again after a failed read', async () => {
    const { asked, read } = dashboard();
    const both = [read(), read()];
    await asked[0]?.(null);
    await asked[1]?.(['d-1']);
    expect(await Promise.all(both)).toEqual([
      [[], ['till']],
      [['d-1'], []],
    ]);
  });

  it('are sent to no one when the agent has exited during the read', async () => {
    const { asked, change, count, stop, told } = dashboard();
    const changed = change();
    await settled();
    stop();
    await asked[0]?.(['d-1']);
    await changed;
    expect([count(), told]).toEqual([0, [['agent_status', 'running', 0]]]);
  });

  it('are dropped with the agent', async () => {
    const { asked, count, read, remove, stop } = dashboard();
    for (const [at, end] of [stop, remove].entries()) {
      const reading = read();
      await asked[at]?.(['d-1']);
      await reading;
      expect(count()).toBe(1);
      end();
      expect(count()).toBe(0);
    }
  });
});

describe('an agent that is slow', () => {
  it('is not asked again until it answers, and then its answer is used once', async () => {
    const { asked, readSlow, told } = dashboard();
    expect(await readSlow()).toEqual([[], ['till']]);
    await asked[0]?.(['d-1']);
    expect(told).toEqual([['t-d-1', 'd-1', 1], ['agent_status', 'running', 1], ['reset']]);
    expect(await readSlow()).toEqual([['d-1'], []]);
    expect(await readSlow()).toEqual([[], ['till']]);
  });

  it('has its answer replaced by a newer one, and dropped after 10 s', async () => {
    const { asked, change, clock, readSlow } = dashboard();
    expect(await readSlow()).toEqual([[], ['till']]);
    const changed = change();
    await settled();
    await asked[0]?.(['d-1']);
    await asked[1]?.(['d-2']);
    await changed;
    expect(await readSlow()).toEqual([['d-2'], []]);
    await asked[2]?.(['d-2']);
    expect(await readSlow()).toEqual([[], ['till']]);
    await asked[3]?.(['d-3']);
    clock.advance(9_001);
    expect(await readSlow()).toEqual([[], ['till']]);
  });

  it('is not awaited after it has failed', async () => {
    const { asked, read, readSlow, told } = dashboard();
    expect(await readSlow()).toEqual([[], ['till']]);
    await asked[0]?.(null);
    const second = read();
    await asked[1]?.([]);
    expect([await second, told]).toEqual([[[], []], []]);
  });
});
