import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentClient } from '../../../helpers/agent-client.ts';
import { axeFindings } from '../../../helpers/axe-findings.ts';
import { forgive, missingOf, seeWhole, TestBrowser } from '../../../helpers/browser.ts';
import { buildPage } from '../../../helpers/built-page.ts';
import { openTeamDesk, type TeamDesk } from '../../../helpers/team-desk.ts';

const patience = { timeout: 20_000 };

let browser: TestBrowser;
beforeAll(async () => {
  [browser] = await Promise.all([TestBrowser.launch(), buildPage()]);
}, 60_000);
afterAll(() => browser.close());

async function park({ agent, page }: TeamDesk, id: string) {
  if (agent.pid === null) await agent.start(page);
  const program = new AgentClient(agent.client.url, 'of-the-shop');
  const answer = program.send(id, [{ tool: 'pay', args: { amount: 5 } }, { say: 'It is paid.' }]);
  answer.catch(() => undefined);
  await expect
    .poll(async () => (await page.get('/api/deferrals')).body.deferrals.length, patience)
    .toBe(1);
  return { answer };
}

/** Whether a page is ready for everybody. */
async function expectUsable(page: Page): Promise<void> {
  expect(await missingOf(page)).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
}

describe('the dashboard of a team behind a proxy with TLS', () => {
  it('leads an operator from a link through the sign-in to a decision and the sign-out', async () => {
    const desk = await openTeamDesk({
      isOnTls: true,
      hasLogout: false,
      rule: { approvers: ['olga@example.com'] },
    });
    const { answer } = await park(desk, 't1');
    desk.issuer.person = 'olga';
    const { page, complaints } = await browser.page({ isUntrusted: true });
    // Each page without a session asks for one.
    forgive(complaints, ['401', 'ERR_INCOMPLETE_CHUNKED_ENCODING']);
    await page.goto(`${desk.origin}/#/approvals/till/t1`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectUsable(page);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(page.url()).toBe(`${desk.origin}/#/approvals/till/t1`);
    await page.getByText('olga@example.com').first().waitFor();
    expect(await page.getByText('Use your own token').count()).toBe(0);
    expect(await page.getByLabel('Your email address').count()).toBe(0);
    await expectUsable(page);
    const approve = await seeWhole(page);
    await approve.click();
    expect((await answer).body.status.state).toBe('completed');
    // The events of the stream arrive through the proxy.
    await page.getByText('Decided by you').waitFor();
    await expect.poll(() => page.title(), patience).not.toContain('(1)');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).not.toContainEqual(
      expect.objectContaining({ name: '__Host-holdpoint' }),
    );
    await page.goto(`${desk.origin}/#/agents`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toContain('till');
  });

  it('leads other people to an approvals page on a phone', async () => {
    const desk = await openTeamDesk({ isOnTls: true, hasLogout: false });
    const { answer } = await park(desk, 't1');
    desk.issuer.person = 'ann';
    const view = { width: 360, height: 640, isTouched: true, isUntrusted: true };
    const { page, complaints } = await browser.page(view);
    // A browser installs no service worker from an address with a certificate that nobody trusts.
    forgive(complaints, ['401', '403', '404', 'An SSL certificate error']);
    await page.goto(desk.origin);
    await page.getByRole('link', { name: 'Sign in' }).tap();
    await page.waitForURL(`${desk.origin}/approvals/`);
    const calls = page.getByRole('list', { name: 'Waiting calls' }).getByRole('link');
    await expect.poll(() => calls.count(), patience).toBe(1);
    expect(await page.getByRole('link', { name: 'Dashboard' }).count()).toBe(0);
    await expectUsable(page);
    await calls.first().tap();
    await (await seeWhole(page)).tap();
    await page.getByText('Approved.', { exact: true }).waitFor();
    expect((await answer).body.status.state).toBe('completed');
    await page.getByRole('button', { name: 'Sign out' }).tap();
    await page.getByText('Sign in to see the calls that wait for you.').waitFor();
  });
});
