import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentProcess, launchAgentProcess } from '../../../helpers/agent-process.ts';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import { refused } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { overflowOf } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const canary = 'CANARY-4f1d';
const shared = new Shared();
let watched: AgentProcess;
let plain: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  plain = new WorkspaceAgent(shared.workspace, 'plain', {}, shared.later);
  const { folder } = new WorkspaceAgent(shared.workspace, 'till', {}, shared.later);
  watched = await launchAgentProcess(folder, shared.later, ['--inspect', '0']);
  dashboard = await shared.open();
  await plain.start(dashboard);
});
afterAll(() => shared.close());

it('the path of a task is saved as a file for other viewers, without a request to them', async () => {
  await watched.send('t1', [{ tool: 'echo', args: { iban: canary } }, { say: canary }]);
  const { page } = await shared.browser.page();
  await page.goto(`${dashboard.url}/#/tasks/till/t1?view=raw`);
  const card = page.locator('section', { hasText: 'Export for Stately' });
  await card.waitFor();
  expect(await card.locator('a').count()).toBe(0);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    card.getByRole('button', { name: 'Download events' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('t1.inspection.jsonl');
  const saved = join(temporaryFolder(), 'saved');
  await file.saveAs(saved);
  const text = readFileSync(saved, 'utf8');
  const { body } = await dashboard.get('/api/agents/till/tasks/t1/inspection');
  expect(text).toBe(body.events.map((event: object) => `${JSON.stringify(event)}\n`).join(''));
  expect(text).not.toContain(canary);
  expect(body.events[0]).toMatchObject({ type: '@xstate.actor', name: 't1' });
  expect(body.events.at(-1).snapshot).toEqual({ status: 'done', value: 'completed' });

  const link = card.getByRole('link');
  expect(await link.evaluate((one: any) => [one.href, one.target, one.rel])).toEqual([
    'https://stately.ai/inspect',
    '_blank',
    'noopener noreferrer',
  ]);
  expect(await card.innerText()).toContain('an external site');
  expect(await card.locator('code').innerText()).toBe(
    `holdpoint task inspect t1 --dir ${watched.folder.path}`,
  );
  expect(await axeFindings(page)).toEqual([]);
  expect(await overflowOf(page)).toBe(null);
});

it('the switch for inspection is explained where it is off', async () => {
  await plain.client.send('t2', [{ say: 'done' }]);
  const { page, complaints } = await shared.browser.page();
  await page.goto(`${dashboard.url}/#/tasks/plain/t2?view=raw`);
  await page.getByRole('button', { name: 'Download events' }).click();
  await page
    .getByText('the inspector of this agent is off; start the agent with --inspect')
    .waitFor();
  expect(await page.getByRole('link', { name: 'stately.ai' }).count()).toBe(0);
  await refused(complaints, 409);
});
