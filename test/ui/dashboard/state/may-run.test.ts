import { expect, it } from 'vitest';
import { mayRun, untilMayRun } from '../../../../src/ui/dashboard/state/may-run.ts';
import { createWorkspace } from '../../../../src/ui/dashboard/state/workspace.ts';
import { listedAgent } from '../../../helpers/page-tasks.ts';

it('an agent may run unless it is known not to', () => {
  const agents = (['stopped', 'starting', 'running', 'errored'] as const).map((status) =>
    listedAgent(status, { status }),
  );
  const running = [...agents.map(({ id }) => id), 'nobody'].filter((id) => mayRun({ agents }, id));
  expect(running).toEqual(['running', 'nobody']);
  expect(mayRun({ agents: null }, 'stopped')).toBe(true);
});

it('a request waits for an agent that does not run', async () => {
  const workspace = createWorkspace();
  const told: string[] = [];
  workspace.trigger.scanned({ agents: [listedAgent('till', { status: 'starting' })] });
  const { signal } = new AbortController();
  const waiting = untilMayRun(workspace, 'till', signal).then(() => told.push('asked'));
  workspace.trigger.agent({ agent: listedAgent('other') });
  await Promise.resolve();
  told.push('other runs');
  workspace.trigger.agent({ agent: listedAgent('till') });
  await waiting;
  expect(told).toEqual(['other runs', 'asked']);
});

it('a request waits at most until its signal, and not for a running agent', async () => {
  const workspace = createWorkspace();
  workspace.trigger.scanned({ agents: [listedAgent('till', { status: 'stopped' })] });
  const left = new AbortController();
  const waiting = untilMayRun(workspace, 'till', left.signal);
  left.abort();
  await waiting;
  workspace.trigger.agent({ agent: listedAgent('till') });
  await untilMayRun(workspace, 'till', new AbortController().signal);
});
