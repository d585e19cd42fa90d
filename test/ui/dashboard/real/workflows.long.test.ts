import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let till: WorkspaceAgent;
let desk: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  till = new WorkspaceAgent(shared.workspace, 'till', deferring(), shared.later);
  desk = new WorkspaceAgent(shared.workspace, 'desk', deferring(), shared.later);
  dashboard = await shared.open();
  await till.start(dashboard);
});
afterAll(() => shared.close());

async function look(
  route: string,
  view: Parameters<typeof shared.browser.page>[0] = {},
): Promise<Page> {
  const { page } = await shared.browser.page(view);
  await page.goto(`${dashboard.url}/${route}`);
  await page.locator('main h1').waitFor();
  await page.getByText('Loading tasks …').waitFor({ state: 'detached' });
  return page;
}

function headers(execution: string, stage: string, step: string): Record<string, string> {
  return {
    'X-Workflow-ID': 'refunds',
    'X-Workflow-Execution-ID': execution,
    'X-Workflow-Stage-ID': stage,
    'X-Workflow-Step-ID': step,
  };
}

function send(agent: WorkspaceAgent, id: string, named: Record<string, string>, script: object[]) {
  const parts = [
    { kind: 'text', text: `Order of ${id}` },
    { kind: 'data', data: { script } },
  ];
  const message = { role: 'user', parts, messageId: id };
  return agent.client.post('/tasks/send', { task: { id, message } }, named);
}

it('the sending of identifiers is explained by a working command, and its run is shown', async () => {
  const page = await look('#/workflows');
  await page.getByText('No workflows yet.').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const command = await page.locator('main code').innerText();
  expect(command).toMatch(/^curl http/);
  await promisify(execFile)('sh', ['-c', command]);
  await page.getByText('run-1').waitFor();
  const run = page.locator('details', { hasText: 'run-1' });
  await run.getByText('1 of 1 done').waitFor();
  expect(await run.innerText()).toMatch(/completed[\s\S]+refund-desk[\s\S]+check[\s\S]+lookup/);
});

it('a run over two agents is shown with its waiting calls, and updated', async () => {
  await desk.start(dashboard);
  await send(desk, 'w-check', headers('run-2', 'check', 'lookup'), [{ say: 'It is known.' }]);
  const paid = send(till, 'w-pay', headers('run-2', 'pay', 'refund'), [
    { tool: 'pay', args: { amount: 5 } },
    { say: 'It is paid.' },
  ]);
  const page = await look('#/workflows?workflow_execution_id=run-2');
  const run = page.locator('details');
  await run.getByText('1 of 2 done').waitFor();
  expect(await run.count()).toBe(1);
  await run.getByRole('link', { name: 'pay waiting' }).waitFor();
  expect(await page.locator('main h1 + p').innerText()).toBe('1 run, 1 waiting');
  const stages = await run.locator('h2').allInnerTexts();
  expect(stages.map((text) => text.replace(/\s+/g, ' '))).toEqual(['Stage check', 'Stage pay']);
  expect(await run.getByRole('link', { name: 'Order of w-pay' }).getAttribute('href')).toBe(
    '#/tasks/till/w-pay',
  );
  await till.client.decide('w-pay', { decision: 'approve', approver: 'ann' });
  await paid;
  await run.getByText('2 of 2 done').waitFor();
  await page.getByLabel('State').selectOption('held');
  await page.getByText('No matching runs.').waitFor();
  expect(new URL(page.url()).hash).toBe('#/workflows?state=held&workflow_execution_id=run-2');
  await page.getByRole('link', { name: 'Show all runs' }).click();
  await eventually(async () => expect(await page.locator('details').count()).toBe(2));
});

it('the workflows page has no axe finding, and fits, wide and narrow', async () => {
  const page = await look('#/workflows', narrow);
  const run = page.locator('details', { hasText: 'run-2' });
  await run.waitFor();
  if ((await run.getAttribute('open')) === null) await run.locator('summary').click();
  await run.getByRole('link', { name: 'Order of w-pay' }).waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
});
