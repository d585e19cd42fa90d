import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let till: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  till = new WorkspaceAgent(shared.workspace, 'till', deferring(), shared.later);
  const desk = new WorkspaceAgent(
    ...([shared.workspace, 'desk', deferring(), shared.later] as const),
  );
  rmSync(join(desk.folder.path, 'SKILL.md'), { force: true });
  dashboard = await shared.open();
  await till.start(dashboard);
});
afterAll(() => shared.close());

it('the checks and figures of an agent are shown, wide and narrow', async () => {
  const { page } = await shared.browser.page(narrow);
  await page.goto(`${dashboard.url}/#/agents/till/doctor`);
  const checks = page.getByRole('region', { name: 'Checks' });
  await checks.getByText(/checks pass|passed/).waitFor({ timeout: 90_000 });
  const { body } = await dashboard.get('/api/agents/till/doctor');
  const shown = await checks.innerText();
  for (const { check } of body.checks) expect(shown).toContain(check);
  await page.getByText('lines not yet in the log').waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
}, 180_000);

it('all agents are checked one after the other, on request', async () => {
  const { page } = await shared.browser.page();
  const asked: string[] = [];
  page.on('request', (one) => {
    if (one.url().endsWith('/doctor')) asked.push(new URL(one.url()).pathname);
  });
  await page.goto(`${dashboard.url}/#/health`);
  await page.getByText('not checked yet').first().waitFor();
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Check all' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await page.getByRole('button', { name: 'Check all' }).waitFor({ timeout: 90_000 });
  expect(asked).toEqual(['/api/agents/desk/doctor', '/api/agents/till/doctor']);
  expect(await page.locator('main').innerText()).not.toContain('not checked yet');
  expect(await axeFindings(page)).toEqual([]);
}, 180_000);
