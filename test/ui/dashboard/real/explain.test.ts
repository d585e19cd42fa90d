import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { overflowOf } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;
let path: string;

beforeAll(async () => {
  const pay = { to: 'channel:console:desk', timeout: '20m' };
  const security = {
    modify: { enabled: true, tools: { pay: { arguments: [{ path: 'amount', set: 4 }] } } },
    defer: { enabled: true, tools: { pay } },
  };
  agent = new WorkspaceAgent(shared.workspace, 'till', { security }, shared.later);
  path = join(agent.folder.path, 'service.yaml');
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

/** Writes other rules, which the agent that runs knows nothing of. */
function writeRules(security: object): void {
  const settings = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...settings, security }));
}

async function callOf(task: string): Promise<string> {
  const { body } = await dashboard.get(`/api/agents/till/tasks/${task}`);
  return body.decisions[0].call_id;
}

it('a recorded call is explained under the current service.yaml, and not run', async () => {
  const before = readFileSync(path, 'utf8');
  const { answered } = await agent.hold(dashboard, 't1');
  const call = await callOf('t1');
  const route = `/api/agents/till/tasks/t1/calls/${call}/explain`;
  const same = await dashboard.post(route, {});
  expect([same.status, same.body.changed, same.body.now.outcome]).toEqual([200, false, 'defer']);
  writeRules({ guardrails: { enabled: true, denied_tools: ['pay'] } });
  const { page } = await shared.browser.page();
  await page.goto(`${dashboard.url}/#/tasks/till/t1`);
  await page.getByRole('button', { name: 'Re-evaluate with current policy' }).click();
  const told = page.locator('.now');
  await told.getByText('Different result').waitFor();
  expect(await told.locator('p').first().innerText()).toMatch(
    /hold\s+then,\s+deny\s+now\. No call was run\./,
  );
  expect(await told.locator('[data-explained=intent_alignment]').innerText()).toMatch(
    /allow\s+deny/,
  );
  expect(await page.locator('.card-foot code').allInnerTexts()).toContain(
    `holdpoint policy explain --task t1 --call ${call} --dir ${agent.folder.path}`,
  );
  expect(await axeFindings(page)).toEqual([]);
  expect(await overflowOf(page)).toBe(null);
  const { body } = await dashboard.get('/api/agents/till/tasks/t1');
  expect(body.state).toBe('deferred');
  expect(body.timeline.map(({ event }: { event: string }) => event)).not.toContain('tool_exec');
  writeFileSync(path, before);
  await agent.client.decide('t1', { decision: 'reject', approver: 'ann' });
  await answered;
  // The arguments of a call that is over were not kept, and no rule for them is asked.
  const later = await dashboard.post(route, {});
  expect([later.body.arguments, later.body.now.outcome, later.body.now.complete]).toEqual([
    null,
    'defer',
    false,
  ]);
  expect(later.body.now.layers.map((said: any) => [said.layer, said.decision])).toEqual([
    ['intent_alignment', 'not_evaluated'],
    ['step_up', 'allow'],
    ['modify', 'not_evaluated'],
    ['defer', 'defer'],
  ]);
});

it('the effect of another service.yaml on the last calls is shown', async () => {
  const content = JSON.stringify({
    ...(JSON.parse(readFileSync(path, 'utf8')) as object),
    security: {},
  });
  const { status, body } = await dashboard.post('/api/agents/till/policy/preview', { content });
  expect([status, body.counts, body.weaker, body.unread]).toEqual([
    200,
    { 'defer → run': 1 },
    ['pay'],
    null,
  ]);
  const wrong = await dashboard.post('/api/agents/till/policy/preview', { content: 'agent_id: 1' });
  expect([wrong.status, wrong.body.valid]).toEqual([400, false]);
  expect(existsSync(join(agent.folder.path, 'paid'))).toBe(false);
});

it.each([
  ['/api/agents/till/tasks/nowhere/calls/c/explain', 404],
  ['/api/agents/till/tasks/t1/calls/none/explain', 404],
  ['/api/agents/till/tasks/t1/calls/..%2f..%2fcancel/explain', 404],
])('no explanation exists for %s', async (route, status) => {
  expect((await dashboard.post(route, {})).status).toBe(status);
});
