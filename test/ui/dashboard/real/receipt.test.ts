import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgive } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  const settings = { ...deferring(), audit: { sign: true } };
  agent = new WorkspaceAgent(shared.workspace, 'till', settings, shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
  const { answered } = await agent.hold(dashboard, 't1');
  await agent.client.decide('t1', { decision: 'approve', approver: 'ann' });
  await answered;
});
afterAll(() => shared.close());

it('the receipt of a call of a real agent is verified on the page of its task, against the lines of the log', async () => {
  const { page, complaints } = await shared.browser.page();
  forgive(complaints, ['409']);
  await page.goto(`${dashboard.url}/#/tasks/till/t1`);
  await page.getByRole('button', { name: 'Verify receipt' }).click();
  const dialog = page.getByRole('dialog', { name: 'Receipt' });
  await dialog.getByText('Signature valid, and the log has its lines.').waitFor();
  expect(await dialog.innerText()).toMatch(/approved\s+ann\s+not authenticated/);
  await dialog.getByRole('button', { name: 'Close' }).click();

  const log = join(agent.folder.path, '.service/audit.ndjson');
  const before = readFileSync(log, 'utf8');
  writeFileSync(log, before.replace('"approver":"ann"', '"approver":"eve"'));
  await page.getByRole('button', { name: 'Verify receipt' }).click();
  // The agent verifies the lines before it signs a receipt, so it signs none over a changed line.
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByRole('alert').innerText()).toMatch(
    /^the log of this agent is broken, so nothing is signed: line \d+: .+; verify it with audit verify$/,
  );
  writeFileSync(log, before);
});
