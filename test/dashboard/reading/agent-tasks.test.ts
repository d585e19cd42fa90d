import { expect, it } from 'vitest';
import type { WorkspaceAgent } from '../../../src/actors/workspace/workspace.ts';
import { deferralsOf } from '../../../src/dashboard/reading/agent-tasks.ts';
import { aDeferral } from '../../helpers/page-fixtures.ts';

/** An agent in which so many calls wait; it notes what it is asked for. */
function agentWith(total: number | undefined, calls: number) {
  const asked: string[] = [];
  const all = Array.from({ length: calls }, (_, at) => aDeferral({ id: `d-${at}` }));
  const agent = {
    id: 'till',
    line: () => ({
      json({ path }: { path: string }) {
        const url = new URL(path, 'http://agent');
        asked.push(path);
        const from = Number(url.searchParams.get('cursor') ?? 0);
        const to = from + Number(url.searchParams.get('limit'));
        const more = to < calls ? { next_cursor: String(to) } : {};
        const body = { deferrals: all.slice(from, to), total, ...more };
        return Promise.resolve({ status: 200, body });
      },
    }),
  };
  return { asked, agent: agent as unknown as WorkspaceAgent };
}

it('the 500 nearest deadlines and the number of waiting calls are read, and more on request', async () => {
  const { asked, agent } = agentWith(1_200, 1_200);
  const usual = await deferralsOf(agent);
  expect([usual.deferrals.length, usual.deferrals[0]?.id, usual.total]).toEqual([
    500,
    'd-0',
    1_200,
  ]);
  const more = await deferralsOf(agent, 1_000);
  expect([more.deferrals.length, more.deferrals.at(-1)?.id, more.total]).toEqual([
    ...[1_000, 'd-999', 1_200],
  ]);
  const all = await deferralsOf(agent, 10_000);
  expect([all.deferrals.length, all.total]).toEqual([1_200, 1_200]);
  const first = '/deferrals?order=deadline&limit=500';
  expect(asked).toEqual([
    first,
    ...[first, `${first}&cursor=500`],
    ...[first, `${first}&cursor=500`, `${first}&cursor=1000`],
  ]);
});

it('the read calls are counted for an agent that does not report the number', async () => {
  const { agent } = agentWith(undefined, 3);
  expect((await deferralsOf(agent)).total).toBe(3);
});
