import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { focused, Shared, tabTo } from './real-page.ts';

const shared = new Shared();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  agent = new WorkspaceAgent(shared.workspace, 'till', deferring(), shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
  await agent.client.send('refund-77', [{ say: 'Nothing to do.' }]);
});
afterAll(() => shared.close());

async function look(
  route: string,
  view: Parameters<typeof shared.browser.page>[0] = {},
): Promise<Page> {
  const { page } = await shared.browser.page(view);
  await page.goto(`${dashboard.url}/${route}`);
  await page.locator('main h1').waitFor();
  await page.getByText('Loading …').waitFor({ state: 'detached' });
  return page;
}

const palette = (page: Page) =>
  page.getByRole('combobox', { name: 'Go to a page or run a command' });

function hash(page: Page): string {
  return new URL(page.url()).hash;
}

it('the palette leads by name to a page and to a task, and restores the focus when it is closed', async () => {
  const page = await look('#/agents');
  await tabTo(page, 'Config');
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  expect(await focused(page)).toBe('Go to a page or run a command');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Config');
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  await page.keyboard.type('till policy');
  await page.keyboard.press('Enter');
  await eventually(() => expect(hash(page)).toBe('#/agents/till/policy'));
  await eventually(async () => expect(await focused(page)).toBe('till'));
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  await page.keyboard.type('refund-77');
  await page
    .getByRole('option', { name: 'refund-77' })
    .and(page.locator(':has-text("completed")'))
    .waitFor();
  await page.keyboard.press('Enter');
  await eventually(() => expect(hash(page)).toBe('#/tasks/till/refund-77'));
});

it('the palette stops and starts an agent after a confirming key, and does neither after Back', async () => {
  const page = await look('#/agents');
  const sent: string[] = [];
  page.on(
    'request',
    (one) => void (one.method() === 'GET' || sent.push(new URL(one.url()).pathname)),
  );
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  await page.keyboard.type('stop till');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop till?' }).waitFor();
  expect(await page.getByRole('dialog').innerText()).toContain('holdpoint serve stop --dir');
  await tabTo(page, 'Back');
  await page.keyboard.press('Enter');
  await palette(page).waitFor();
  expect(sent).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop till?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // Until it has ended the card offers a restart, whose name has this one in it.
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  expect(sent).toEqual(['/api/agents/till/stop']);
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  await page.keyboard.type('start till');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Start till?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Restart' }).waitFor({ timeout: 60_000 });
});

it('keys are letters in a field, and two of them navigate elsewhere', async () => {
  const page = await look('#/tasks');
  const field = page.getByLabel('Workflow execution');
  await field.focus();
  await page.keyboard.type('g?a');
  await page.keyboard.press('Control+k');
  expect([hash(page), await field.inputValue(), await page.getByRole('dialog').count()]).toEqual([
    ...['#/tasks', 'g?a', 0],
  ]);
  await field.fill('');
  await page.locator('main h1').focus();
  await page.keyboard.type('ga');
  await eventually(() => expect(hash(page)).toBe('#/approvals'));
  await eventually(async () => expect(await focused(page)).toBe('Approvals'));
  await page.keyboard.type('gt');
  await eventually(() => expect(hash(page)).toBe('#/tasks'));
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('the palette has no axe finding, wide and narrow', async () => {
  const page = await look('#/agents', narrow);
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
  await page.keyboard.type('start nothing of the kind');
  await page.getByText('No results.').waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
  await page.getByRole('combobox').fill('stop till');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop till?' }).waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
});
