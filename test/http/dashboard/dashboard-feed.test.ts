import { expect, it } from 'vitest';
import type { WorkspaceAgent } from '../../../src/actors/workspace/workspace.ts';
import { dashboardFeed } from '../../../src/http/dashboard/dashboard-feed.ts';
import { PendingCounts } from '../../../src/http/dashboard/pending-counts.ts';
import { aDeferral } from '../../helpers/page-server.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('asks an agent what waits only after its last answer, which would else undo a newer one', async () => {
  const asked: ((deferrals: object[]) => void)[] = [];
  const agent = {
    id: 'till',
    directory: '/agents/till',
    state: 'running',
    served: null,
    error: null,
    description: {},
    line: () => ({
      json({ path }: { path: string }) {
        if (path.startsWith('/tasks?'))
          return Promise.resolve({ status: 200, body: { tasks: [] } });
        if (!path.startsWith('/deferrals')) return Promise.resolve({ status: 404, body: {} });
        return new Promise((resolve) => {
          asked.push((deferrals) => resolve({ status: 200, body: { deferrals } }));
        });
      },
    }),
  } as unknown as WorkspaceAgent;
  const told: [string, unknown][] = [];
  const hub = { tell: (name: string, data: any) => void told.push([name, data.pending]) };
  const pending = new PendingCounts();
  const feed = dashboardFeed({ hub: hub as never, pending, log });
  feed.onGap(agent);
  const telling = feed.onTasks(agent, ['t-1']);
  await new Promise(setImmediate);
  expect(asked).toHaveLength(1);
  asked[0]?.([aDeferral()]);
  await new Promise(setImmediate);
  expect(asked).toHaveLength(2);
  asked[1]?.([]);
  await telling;
  expect(pending.of('till')).toBe(0);
  expect(told.filter(([name]) => name === 'deferral')).toEqual([
    ['deferral', 1],
    ['deferral', 0],
  ]);
});
