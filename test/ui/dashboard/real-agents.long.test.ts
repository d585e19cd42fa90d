import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgive, TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { deferring } from '../../helpers/test-agent.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';
import { eventually } from './page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

/** A dashboard whose one agent runs, and holds each call of `pay`. */
async function openWithAgent(): Promise<{ dashboard: TestDashboard; agent: WorkspaceAgent }> {
  let agent!: WorkspaceAgent;
  const dashboard = await openDashboard((workspace) => {
    agent = new WorkspaceAgent(workspace, 'till', deferring());
  });
  await agent.start(dashboard);
  return { dashboard, agent };
}

async function look(dashboard: TestDashboard, route: string) {
  const opened = await browser.page();
  await opened.page.goto(`${dashboard.url}/${route}`);
  return opened;
}

/** Presses a key once the call that is shown takes decisions. */
async function press(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor();
  await page.getByRole('heading', { name: 'Approvals' }).focus();
  // Keys decide on the call that has the focus alone.
  await page.keyboard.press('j');
  await page.keyboard.press(key);
}

describe('a call of an agent', () => {
  it('appears in the inbox, and runs when it is approved with two keys', async () => {
    const { dashboard, agent } = await openWithAgent();
    const { page } = await look(dashboard, '#/approvals');
    await page.getByText('Nothing to approve').waitFor();
    expect(await page.title()).toBe('Approvals · Holdpoint');
    const { answered } = await agent.hold(dashboard, 't1');
    await page.getByRole('heading', { name: 'pay', exact: true }).waitFor();
    await eventually(async () => expect(await page.title()).toBe('(1) Approvals · Holdpoint'));
    await press(page, 'a');
    expect(agent.folder.paid).toEqual([]);
    await page.keyboard.press('Enter');
    expect(JSON.stringify((await answered).body)).toContain('It is paid.');
    expect(agent.folder.paid).toHaveLength(1);
    await eventually(async () => expect(await page.title()).toBe('Approvals · Holdpoint'));
    expect((await dashboard.get('/api/deferrals')).body.deferrals).toEqual([]);
    await page.goto(`${dashboard.url}/#/approvals`);
    await page.reload();
    await page.getByText('Nothing to approve').waitFor();
  });

  it('does not run when it is rejected, and the agent receives the reason', async () => {
    const { dashboard, agent } = await openWithAgent();
    const { page } = await look(dashboard, '#/approvals/till/t1');
    const { answered } = await agent.hold(dashboard, 't1');
    await page.getByRole('heading', { name: 'pay', exact: true }).waitFor();
    await press(page, 'r');
    await page.keyboard.type('too much');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Rejected: pay of till.').waitFor();
    await answered;
    expect(agent.folder.paid).toEqual([]);
    const { body } = await dashboard.get('/api/agents/till/tasks/t1');
    expect(JSON.stringify(body)).toContain('too much');
  });

  it('that another person decided first is shown as decided', async () => {
    const { dashboard, agent } = await openWithAgent();
    const { answered } = await agent.hold(dashboard, 't1');
    const { page, complaints } = await look(dashboard, '#/approvals/till/t1');
    const approve = page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled'));
    await approve.waitFor();
    // What the page sends arrives after the decision of the other.
    await page.route('**/decisions', async (route) => {
      await agent.client.decide('t1', { decision: 'reject', approver_email: 'carol@example.com' });
      await route.continue();
    });
    await approve.click();
    await page.getByText(/Already decided: reject/).waitFor();
    await answered;
    expect(agent.folder.paid).toEqual([]);
    // The browser notes a 409 of its own accord.
    forgive(complaints, ['409']);
  });

  it('highlights its state on the page of its task while it waits', async () => {
    const { dashboard, agent } = await openWithAgent();
    const done = agent.client.send('t1', [{ say: 'ready' }]);
    await done;
    const { page } = await look(dashboard, '#/tasks');
    await page.locator('main h1').waitFor();
    const { answered } = await agent.hold(dashboard, 't2');
    await page.goto(`${dashboard.url}/#/tasks/till/t2`);
    await page.locator('[data-state="deferred.asked"][aria-current=true]').waitFor();
    await dashboard.post('/api/agents/till/tasks/t2/decisions', { decision: 'approve' });
    await answered;
    await page.locator('[data-state="completed"][aria-current=true]').waitFor();
  });
});

describe('an agent', () => {
  it('that is killed is shown as exited without output, in every tab and after a reload', async () => {
    const { dashboard, agent } = await openWithAgent();
    const tabs = [await look(dashboard, ''), await look(dashboard, '')];
    const cards = tabs.map(({ page }) => page.locator('article').filter({ hasText: 'till' }));
    await Promise.all(cards.map((card) => card.getByText('running').waitFor()));
    agent.kill();
    await Promise.all(cards.map((card) => card.getByText('ended without a word').waitFor()));
    const shown = await cards[0]!.innerText();
    expect(await cards[1]!.innerText()).toBe(shown);
    await tabs[0]!.page.reload();
    await eventually(async () => expect(await cards[0]!.innerText()).toBe(shown));
  });

  it('that crashes shows its last output as text, in a new page as well', async () => {
    const dashboard = await openDashboard((workspace) => {
      new WorkspaceAgent(workspace, 'till', { model: { name: '${MISSING_NAME}' } });
    });
    const { page } = await look(dashboard, '');
    const card = page.locator('article').filter({ hasText: 'till' });
    await card.getByRole('button', { name: 'Start', exact: true }).click();
    await card.getByText('errored').waitFor({ timeout: 60_000 });
    expect(await card.locator('pre').innerText()).toContain('MISSING_NAME is not set');
    const shown = await card.innerText();
    await page.reload();
    await eventually(async () => expect(await card.innerText()).toBe(shown));
  });

  it('shows its current policy and log', async () => {
    const { dashboard, agent } = await openWithAgent();
    const { page } = await look(dashboard, '#/agents/till/policy');
    const pay = page.locator('.tools li').filter({ has: page.getByText('pay', { exact: true }) });
    await pay.waitFor();
    expect(await pay.innerText()).toMatch(/defer\.tools\.pay/);
    await page.goto(`${dashboard.url}/#/agents/till/logs`);
    await page.getByText(`"pid":${agent.pid}`).first().waitFor();
  });
});
