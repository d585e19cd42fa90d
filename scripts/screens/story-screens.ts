import { measuredLimitJson } from '../../src/machines/governance/limit-json.ts';
import { aMeasuredLimit } from '../../test/helpers/limit-fixtures.ts';
import { aDeferral } from '../../test/helpers/page-fixtures.ts';
import type { PageServer } from '../../test/helpers/page-server.ts';
import type { Screen } from './screen.ts';

type StoryScreen = Screen<PageServer>;

const story = (address: string, walk?: StoryScreen['walk']): StoryScreen => ({
  address,
  ...(walk && { walk }),
});

/** Screens of the made-up server. */
export const storyScreens: Record<string, StoryScreen> = {
  agents: story('#/agents'),
  'agents-none': story('#/agents', async ({ open }, server) => {
    const { agents, deferrals } = server;
    Object.assign(server, { agents: [], deferrals: [] });
    await open('#/agents');
    Object.assign(server, { agents, deferrals });
  }),
  'agents-passphrase': story('#/agents', async ({ page }) => {
    const card = page.getByRole('article', { name: 'translator' });
    await card.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('dialog').waitFor();
  }),
  'agents-away': story('#/agents', async ({ page }, server) => {
    await page.route('**/api/**', (route) => route.abort());
    server.dropStreams();
    await page.getByText('is not responding').waitFor();
  }),
  'sign-in': story('#/agents', async ({ page, open }, server) => {
    server.token = 'a-token';
    await open('#/agents');
    await page.getByLabel('Token').fill('another');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    server.token = null;
  }),
  nowhere: story('#/nothing'),
  palette: story('#/agents', async ({ page }) => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').waitFor();
  }),
  'palette-found': story('#/agents', async ({ page }) => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').fill('refund');
    await page.getByText('completed').first().waitFor();
  }),
  'palette-stop': story('#/agents', async ({ page }) => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').fill('stop refunds');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Back' }).waitFor();
  }),
  keys: story('#/agents', async ({ page }) => {
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  }),
  menu: story('#/agents', async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: 'Menu' }).click();
  }),
  approvals: story('#/approvals'),
  approval: story('#/approvals/refunds/refund-1'),
  'approval-over': story('#/approvals', async ({ open }, server) => {
    const over = measuredLimitJson(aMeasuredLimit({ by: { caller: '(none)' } }));
    const call = { id: 'd-4', task_id: 'refund-5', requester: null, title: 'Refund order A-2001' };
    const { deferrals } = server;
    server.deferrals = [...deferrals, aDeferral({ ...call, limits: [over] })];
    await open('#/approvals/refunds/refund-5');
    server.deferrals = deferrals;
  }),
  'approvals-none': story('#/approvals', async ({ open }, server) => {
    const { deferrals } = server;
    server.deferrals = [];
    await open('#/approvals');
    server.deferrals = deferrals;
  }),
  policy: story('#/agents/refunds/policy'),
  logs: story('#/agents/refunds/logs'),
  'logs-none': story('#/agents/translator/logs'),
  tasks: story('#/tasks'),
  'tasks-none': story('#/tasks?state=canceled&agent=refunds'),
  'task-held': story('#/tasks/refunds/refund-1'),
  'task-completed': story('#/tasks/refunds/refund-2'),
  'task-failed': story('#/tasks/refunds/refund-3'),
  'task-denied': story('#/tasks/refunds/refund-4'),
  'task-timeline': story('#/tasks/refunds/refund-2?view=timeline'),
  'task-raw': story('#/tasks/refunds/refund-2?view=raw'),
  'task-back': story('#/tasks/refunds/refund-2?step=10'),
  workflows: story('#/workflows'),
  chat: story('#/agents/refunds/chat', async ({ page }) => {
    await page.locator('nav li button').first().click();
    await page.locator('.markdown').first().waitFor();
  }),
  'chat-none': story('#/agents/refunds/chat'),
  audit: story('#/audit/refunds'),
  'audit-verified': story('#/audit/refunds', async ({ page }) => {
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('intact').first().waitFor();
  }),
};
