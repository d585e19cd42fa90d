import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgive } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let dashboard: DashboardProcess;
let agent: WorkspaceAgent;

beforeAll(async () => {
  const modify = {
    enabled: true,
    tools: { pay: { arguments: [{ path: 'amount', set: 3 }] } },
  };
  const { defer } = deferring().security;
  agent = new WorkspaceAgent(
    shared.workspace,
    'till',
    { security: { defer, modify } },
    shared.later,
  );
  dashboard = await shared.open();
});
afterAll(() => shared.close());

it('changes of MODIFY are shown before and after the decision, and after a restart of the daemon', async () => {
  await agent.start(dashboard);
  const { answered } = await agent.hold(dashboard, 't1');
  const { page, complaints } = await shared.browser.page();
  const modified = page.locator('[data-layer=Modify]');
  const seen = async (state: string) => {
    await page.goto(`${dashboard.url}/#/tasks/till/t1`);
    await page.reload();
    await page.locator(`[data-state="${state}"][aria-current=true]`).waitFor();
    await modified.locator('dl').waitFor();
    return {
      path: await modified.locator('dt').allInnerTexts(),
      before: await modified.locator('del').allInnerTexts(),
      after: await modified.locator('ins').allInnerTexts(),
    };
  };
  const change = { path: ['amount'], before: ['5'], after: ['3'] };
  expect(await seen('deferred.asked')).toEqual(change);
  await agent.client.decide('t1', { decision: 'approve', approver: 'ann' });
  await answered;
  expect(await seen('completed')).toEqual(change);
  const { pid } = agent;
  await dashboard.post('/api/agents/till/stop', {});
  await eventually(async () => {
    expect((await dashboard.get('/api/agents/till')).body.status).toBe('stopped');
  });
  await agent.start(dashboard);
  expect(agent.pid).not.toBe(pid);
  expect(await seen('completed')).toEqual(change);
  // Before it heard of the stop, the page may have asked for the task once more: of an agent that was about to end or had.
  const task = `${dashboard.url}/api/agents/till/tasks/t1`;
  forgive(complaints, [`400 ${task}`, `502 ${task}`]);
});
