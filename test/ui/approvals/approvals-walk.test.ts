import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgive, seeWhole, TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { faultsOf } from '../../helpers/faults-of.ts';
import { expectUsable, park, startDesk } from './browser-desk.ts';

const token = 'token-of-the-program';
/** Both themes on the narrowest and on a wide window, the phone of these walks last. */
const looks = [
  ['dark', 1_920],
  ['light', 1_920],
  ['dark', 320],
  ['light', 320],
] as const;

const patience = { timeout: 20_000 };

let browser: TestBrowser;
beforeAll(async () => {
  [browser] = await Promise.all([TestBrowser.launch(), buildPage()]);
}, 60_000);
afterAll(() => browser.close());

/** Taps a control until something is shown: a tap in the moment in which the page changes reaches nothing. */
function tapUntil(control: Locator, shown: Locator): () => Promise<boolean> {
  return async () => {
    if (await shown.isVisible()) return true;
    await control.tap({ timeout: 500 }).catch(() => undefined);
    return shown.isVisible();
  };
}

describe('the approvals page in a browser', () => {
  it('leads a person from the sign-in to a decision and the sign-out, on a small phone', async () => {
    const { agent, url } = await startDesk();
    const first = await park(agent, 't1', { order: 'A-1', amount: 5 });
    const second = await park(agent, 't2', { order: 'A-2', amount: 9 });
    const { page, complaints } = await browser.page({ width: 360, height: 640, isTouched: true });
    // Each page without a session asks for one.
    // The page may ask for the call while the answer to a decision on it is on its way.
    forgive(complaints, ['401', '404']);
    await page.goto(`${url}/approvals`);
    await page.getByText('Sign in to see the calls that wait for you.').waitFor();
    await expectUsable(page);
    await page.getByRole('link', { name: 'Sign in' }).tap();
    await page.getByText('ann@example.com').waitFor();
    const calls = page.getByRole('list', { name: 'Waiting calls' }).getByRole('link');
    await expect.poll(() => calls.count(), patience).toBe(2);
    await expectUsable(page);

    expect(await calls.first().innerText()).toMatch(
      /^pay\n[\s\S]*\norder A-1 · amount 5\nshop · till$/,
    );
    await calls.first().tap();
    await page.getByRole('article').getByText('A-1').first().waitFor();
    await expectUsable(page);
    await (await seeWhole(page)).tap();
    await page.getByText('Approved.', { exact: true }).waitFor();
    expect((await first.answer).body.status.state).toBe('completed');

    await page.getByRole('link', { name: 'All waiting calls' }).tap();
    await expect.poll(() => calls.count(), patience).toBe(1);
    await page.getByText('Decided by you').waitFor();
    await calls.first().tap();
    await page.getByRole('article').getByText('A-2').first().waitFor();
    const reject = page.getByRole('button', { name: 'Reject' });
    await expect
      .poll(async () => {
        await reject.tap();
        return page.getByText('Enter a reason to reject this call.').isVisible();
      }, patience)
      .toBe(true);
    await page.getByLabel('Reason').fill('not this one');
    await reject.tap();
    await page.getByText('Rejected.', { exact: true }).waitFor();
    expect((await second.answer).body.status.state).not.toBe('deferred');
    expect(agent.folder.paid).toHaveLength(1);

    await page.getByRole('button', { name: 'Sign out' }).tap();
    await page.getByText('Sign in to see the calls that wait for you.').waitFor();
    expect(await page.context().cookies(url)).not.toContainEqual(
      expect.objectContaining({ name: `holdpoint-${new URL(url).port}` }),
    );
    expect(await page.content()).not.toContain('A-2');
  });

  it('decides many calls on a small phone: some rejected at once, the others approved after each was in view', async () => {
    const { agent, url } = await startDesk();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        park(agent, `t${index}`, { order: `A-${index}`, amount: index }),
      ),
    );
    const { page, complaints } = await browser.page({ width: 360, height: 640, isTouched: true });
    forgive(complaints, ['401']);
    await page.goto(`${url}/approvals`);
    await page.getByRole('link', { name: 'Sign in' }).tap();
    const ticks = page.getByRole('checkbox', { name: 'Select pay' });
    await expect.poll(() => ticks.count(), patience).toBe(12);
    for (const index of [0, 1, 2]) await ticks.nth(index).check();
    await page.getByText('Calls of till that wait for you').waitFor();
    await page.getByText('3 selected').waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
    await page.getByRole('button', { name: 'Reject …' }).tap();
    const dialog = page.getByRole('dialog');
    const reject = dialog.getByRole('button', { name: 'Reject 3 calls' });
    await expect.poll(tapUntil(reject, dialog.getByText('Enter a reason')), patience).toBe(true);
    await dialog.getByLabel('Reason for all of them').fill('not today');
    await expect.poll(tapUntil(reject, page.getByText('Rejected 3 calls.')), patience).toBe(true);
    await expect.poll(() => ticks.count(), patience).toBe(9);

    await ticks.first().check();
    await page.getByRole('button', { name: 'Select all 9' }).tap();
    await page.getByRole('button', { name: 'Approve …' }).tap();
    const approve = dialog.getByRole('button', { name: 'Approve 9 calls' });
    const next = dialog.getByRole('button', { name: 'Show the next' });
    await dialog.getByText(/ of 9 seen/).waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await expectUsable(page);
    const seesNext = async () => {
      if (await next.isVisible()) await next.tap({ timeout: 500 }).catch(() => undefined);
      return approve.isEnabled();
    };
    await expect.poll(seesNext, patience).toBe(true);
    await expect.poll(tapUntil(approve, page.getByText('Approved 9 calls.')), patience).toBe(true);
    await page.getByText('Nothing to approve').waitFor();
    expect(await page.getByText('Approved 9 calls.').isVisible()).toBe(true);
    const ended = await Promise.all(answers.map(({ answer }) => answer));
    const states = ended.map(({ body }) => body.status.state);
    expect(states.filter((state) => state === 'completed')).toHaveLength(9);
    expect(agent.folder.paid).toHaveLength(9);
  });

  it('delegates to another person, and ends the delegation', async () => {
    const { url, agent } = await startDesk();
    const { page, complaints } = await browser.page({ width: 360, height: 640, isTouched: true });
    forgive(complaints, ['401', '400']);
    await page.goto(`${url}/approvals`);
    await page.getByRole('link', { name: 'Sign in' }).tap();
    const until = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel('Until').fill(until);
    const person = page.getByLabel('Email of the person');
    await person.fill('ann@example.com');
    await page.getByRole('button', { name: 'Hand over' }).tap();
    await page.getByText('No one can delegate to oneself').waitFor();
    await person.fill('bob@example.com');
    await page.getByRole('button', { name: 'Hand over' }).tap();
    await page.getByText('bob@example.com decides for you').waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
    const end = page.getByRole('button', { name: 'End the delegation to bob@example.com' });
    expect((await end.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await end.tap();
    await page.getByText('bob@example.com decides for you').waitFor({ state: 'detached' });
    const events = agent.audit().map(({ event }) => event);
    expect(events.filter((event) => event.startsWith('delegation_'))).toEqual([
      ...['delegation_given', 'delegation_ended'],
    ]);
  });

  it('leads from a link through the sign-in to the call, and to no call of another person', async () => {
    const { agent, issuer, url } = await startDesk();
    await park(agent, 't1', { order: 'A-1', amount: 5 });
    const { body } = await agent.as(token).get('/deferrals');
    const [{ id }] = body.deferrals as { id: string }[] as [{ id: string }];
    const { page, complaints } = await browser.page({ width: 360, height: 640 });
    forgive(complaints, ['401', '404']);
    await page.goto(`${url}/approvals/#/calls/${id}`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('article').getByText('A-1').first().waitFor();
    await seeWhole(page);
    await page.getByRole('button', { name: 'Edit arguments' }).click();
    await page.getByLabel('amount').fill('4');
    await (await seeWhole(page)).click();
    await page.getByText('Approved.', { exact: true }).waitFor();
    const [line] = agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(line?.fields).toMatchObject({ method: 'oidc', approver: 'ann@example.com' });
    issuer.person = 'eve';
    const other = await browser.page({ width: 360, height: 640 });
    forgive(other.complaints, ['401', '404']);
    await other.page.goto(`${url}/approvals/#/calls/${id}`);
    await other.page.getByRole('link', { name: 'Sign in' }).click();
    await other.page.getByText('No longer pending').waitFor();
    expect(await other.page.content()).not.toContain('A-1');
  });
});

/** A call that waits, opened by Ann, who has typed a reason. */
async function openCall(rule: object = {}) {
  const desk = await startDesk({ rule });
  await park(desk.agent, 't1', { order: 'A-1', amount: 5, note: 'a line\n'.repeat(60) });
  const { body } = await desk.agent.as(token).get('/deferrals');
  const [{ id }] = body.deferrals as { id: string }[] as [{ id: string }];
  const { page, complaints } = await browser.page({ width: 360, height: 740 });
  forgive(complaints, ['401', '404', '409']);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${desk.url}/approvals/#/calls/${id}`);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('article').waitFor();
  await page.getByLabel('Reason').fill('ask the shop first');
  return { ...desk, page, id, complaints };
}

describe('an open call of the approvals page', () => {
  it('shows a message of the requester within two seconds, and accepts no approval before it was in view', async () => {
    const { agent, page } = await openCall();
    await seeWhole(page);
    await page.getByRole('region', { name: 'The call' }).evaluate((part: any) => {
      part.scrollTop = part.scrollHeight;
    });
    const sent = performance.now();
    const { body } = await agent.as(token).rpc('message/send', {
      message: {
        ...{ kind: 'message', role: 'user', messageId: 'm-stop', taskId: 't1' },
        parts: [{ kind: 'text', text: 'STOP, it is a fraud' }],
      },
      configuration: { blocking: false },
    });
    expect(body.error).toBeUndefined();
    await page.getByText('1 new message').waitFor();
    expect(performance.now() - sent).toBeLessThan(4_000);
    const approve = page.getByRole('button', { name: 'Approve' });
    expect(await approve.isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Reject' }).isEnabled()).toBe(true);
    expect(await page.locator('[aria-live=assertive]').innerText()).toContain(
      'STOP, it is a fraud',
    );
    await page.getByRole('button', { name: 'Show it' }).click();
    await expect.poll(() => approve.isEnabled(), patience).toBe(true);
    await page.getByText('New since you opened this call').waitFor();
    await expectUsable(page);
  });

  it('shows that another person decided, with the typed reason, also after a reload', async () => {
    const { agent, page, id } = await openCall({
      approvers: ['ann@example.com', 'shop@example.com'],
    });
    await page.reload();
    await page.getByRole('article').waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('ask the shop first');
    const decision = { decision: 'reject', approver_email: 'shop@example.com', note: 'no' };
    const { status } = await agent
      .as(token)
      .post(`/tasks/t1/decisions`, { ...decision, deferral_id: id });
    expect(status).toBe(200);
    await page.getByText('no longer pending').waitFor();
    expect(await page.getByLabel('Your unsent reason').inputValue()).toBe('ask the shop first');
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await expectUsable(page);
    await page.reload();
    await page.getByText('No longer pending').waitFor();
    expect(await page.getByLabel('Your unsent reason').inputValue()).toBe('ask the shop first');
  });

  it('keeps the typed reason through the end of the session and a new sign-in', async () => {
    const { page } = await openCall();
    await page.context().clearCookies();
    await page.getByText('Your session has ended.').first().waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('article').waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('ask the shop first');
  });

  it('accepts no approval while the daemon is unreachable', async () => {
    const { page, complaints } = await openCall();
    forgive(complaints, ['ERR_INTERNET_DISCONNECTED', 'net::']);
    await seeWhole(page);
    await page.context().setOffline(true);
    await page.getByText('while the call cannot be read again').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await page.context().setOffline(false);
    const approve = page.getByRole('button', { name: 'Approve' });
    await expect.poll(() => approve.isEnabled(), patience).toBe(true);
  });
});
