import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeferralJson } from '../../../../../src/http/wire/dashboard/held-call-json.ts';
import { axeFindings } from '../../../../helpers/axe-findings.ts';
import { forgive, seeWhole, TestBrowser } from '../../../../helpers/browser.ts';
import { faultsOf } from '../../../../helpers/faults-of.ts';
import { aDeferral, anAgent } from '../../../../helpers/page-fixtures.ts';
import type { PageServer } from '../../../../helpers/page-server.ts';
import { eventually, startPageServer } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [320, 768, 1920].map((width) => [scheme, width] as const),
);

/** Calls of two agents, the first deadline first. */
function someCalls(count: number): DeferralJson[] {
  return Array.from({ length: count }, (_, index) => {
    const isOps = index % 4 === 3;
    return aDeferral({
      agent_id: isOps ? 'ops' : 'refunds',
      id: `d-${index}`,
      task_id: `t-${index}`,
      tool: isOps ? 'restart_server' : 'issue_refund',
      args: isOps ? { host: `web-${index}` } : { order_id: `A-${index}`, amount: index },
      args_sha256: index.toString(16).padStart(64, '0'),
      title: 'Please refund this order at once',
      approvers: index % 2 === 0 ? ['group:finance'] : null,
      ...(isOps ? {} : { display: ['args.amount', 'args.order_id'] }),
      expires_at: new Date(Date.now() + 600_000 + index * 60_000).toISOString(),
      requested_at: new Date(Date.now() - index * 60_000).toISOString(),
    });
  });
}

async function openInbox(
  count: number,
  route: string,
  view: Parameters<TestBrowser['page']>[0] = {},
) {
  const server = await startPageServer();
  server.agents = ['ops', 'refunds'].map((id) => anAgent({ id }));
  server.deferrals = someCalls(count);
  const { page, complaints } = await browser.page(view);
  await page.goto(server.url + route);
  await page.locator('main [data-row]').first().waitFor();
  return { server, page, complaints };
}

/** What has the focus: the row of a call, or its text. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = (globalThis as any).document.activeElement;
    return element?.dataset?.row ?? element?.textContent?.trim() ?? '';
  });
}

const rows = (page: Page) => page.locator('.list [data-row]');

describe('the list of waiting calls', () => {
  it('shows the deciding arguments, and no text of the requester', async () => {
    const { page } = await openInbox(4, '#/approvals');
    const texts = await rows(page).allInnerTexts();
    expect(texts[1]).toContain('amount 1 · order_id A-1');
    expect(texts[3]).toContain('host web-3');
    expect(texts.join()).not.toContain('Please refund');
  });

  it('has no axe-core finding, in both themes at three widths', async () => {
    const { page } = await openInbox(8, '#/approvals?mine=true&order=newest');
    expect(await faultsOf(page, looks)).toEqual([]);
    await page.getByRole('button', { name: 'Mine' }).click();
    await page.getByRole('button', { name: 'Group by tool' }).click();
    await page.getByText('6 × issue_refund').waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
  });

  it('is filtered with counts, which the address keeps', async () => {
    const { page, server } = await openInbox(8, '#/approvals');
    const tool = page.getByLabel('Tool');
    expect(await tool.locator('option').allInnerTexts()).toEqual([
      ...['any', 'issue_refund (6)', 'restart_server (2)'],
    ]);
    await tool.selectOption('restart_server');
    await eventually(async () => expect(await rows(page).count()).toBe(2));
    await page.getByRole('button', { name: 'Mine 2' }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('WEB-7');
    await eventually(async () => expect(await rows(page).count()).toBe(1));
    // The first call of the list is opened, with an address of its own.
    const query = 'tool=restart_server&mine=true&q=WEB-7';
    await eventually(() => expect(page.url()).toBe(`${server.url}#/approvals/ops/t-7?${query}`));
    await page.reload();
    await eventually(async () => expect(await rows(page).count()).toBe(1));
    expect(await page.getByRole('searchbox').inputValue()).toBe('WEB-7');
    await page.getByRole('searchbox').fill('nothing');
    await page.getByText('No matching calls').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show all' }).first().click();
    await eventually(async () => expect(await rows(page).count()).toBe(8));
  });

  it('shows calls of one tool as one row, which opens them', async () => {
    const { page, server } = await openInbox(8, '#/approvals?groups=true');
    await page.keyboard.press('j');
    expect(await focused(page)).toBe('["refunds","issue_refund"]');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await rows(page).count()).toBe(6));
    const query = 'agent=refunds&tool=issue_refund';
    await eventually(() =>
      expect(page.url()).toBe(`${server.url}#/approvals/refunds/t-0?${query}`),
    );
  });

  it('is one Tab stop, in which j and k move across pages', async () => {
    const { page } = await openInbox(205, '#/approvals');
    expect(await page.locator('.list [data-row][tabindex="0"]').count()).toBe(1);
    expect(await page.locator('.list').getByRole('status').innerText()).toBe('1 to 100 of 205');
    await page.goto(`${page.url().split('#')[0]}#/approvals/ops/t-99`);
    await page.keyboard.press('j');
    await eventually(async () => expect(await focused(page)).toBe('refunds d-100'));
    expect(await page.locator('.list').getByRole('status').innerText()).toBe('101 to 200 of 205');
    await page.keyboard.press('k');
    await eventually(async () => expect(await focused(page)).toBe('ops d-99'));
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('101 to 200 of 205').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('201 to 205 of 205').waitFor();
    await page.getByRole('heading', { name: 'issue_refund' }).waitFor();
    expect(await page.locator('.one').getByText('A-200').count()).toBe(1);
  });
});

describe('next to a call', () => {
  it("its history and groups are shown, and below it the user's decisions, with outcomes", async () => {
    const { page, server } = await openInbox(2, '#/approvals');
    const at = new Date(Date.now() - 3_600_000).toISOString();
    const line = (event: string, fields: object) =>
      JSON.stringify({
        ...{ event, ts: at, task_id: 't-9' },
        fields: { tool: 'issue_refund', deferral_id: 'd-9', ...fields },
      });
    const [first] = server.deferrals;
    server.deferrals[0] = {
      ...first!,
      quorum: 2,
      approvals: [
        { approver: 'bob@example.com', for: 'ann@example.com', as: ['group:finance'], at },
      ],
    };
    server.routes.set('GET /api/agents/refunds/audit', () => ({
      body: {
        events: [
          { seq: 1, line: line('task_deferred', first!.requester!) },
          {
            seq: 2,
            line: line('task_deferred_decision', { decision: 'reject', approver: 'carol' }),
          },
        ],
      },
    }));
    server.routes.set('GET /api/deferrals/decided', () => ({
      body: {
        unasked: [],
        decided: Array.from({ length: 6 }, (_, index) => ({
          ...{ agent_id: 'refunds', id: `p-${index}`, task_id: `p-${index}`, tool: 'issue_refund' },
          ...{ args_sha256: 'a'.repeat(64), decision: 'approve', approver: 'ann', note: 'agreed' },
          ...{ decided_at: at, outcome: index === 0 ? 'failed' : 'ran', error: 'already refunded' },
        })),
      },
    }));
    await page.reload();
    await page.getByText('Requested once before: 1 rejected (by carol).').waitFor();
    await page.getByText('Approved by bob@example.com for ann@example.com').waitFor();
    expect(await page.locator('.one').getByText('the finance group', { exact: true }).count()).toBe(
      1,
    );
    const own = page.getByRole('region', { name: 'Decided by you' });
    expect(await own.locator('.pill').allInnerTexts()).toEqual(['failed', ...Array(4).fill('ran')]);
    await own.getByText('issue_refund failed: already refunded').waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
    await own.getByRole('button', { name: 'Show all 6' }).click();
    expect(await own.locator('.pill').count()).toBe(6);
    await page.goto(`${server.url}#/approvals/refunds/t-0`);
    expect(await faultsOf(page, looks)).toEqual([]);
  });
});

describe('a decision on several calls', () => {
  const path = '/api/agents/refunds/deferrals/decisions';
  const pinned = (index: number, decision: string) => ({
    ...{ task_id: `t-${index}`, decision, deferral_id: `d-${index}` },
    args_sha256: index.toString(16).padStart(64, '0'),
  });

  /** Answers each decision, and ends the calls that were decided. */
  function decideAs(server: PageServer, status: (task: string) => number): void {
    server.routes.set(`POST ${path}`, ({ decisions }: { decisions: { task_id: string }[] }) => ({
      body: {
        decisions: decisions.map(({ task_id }) => {
          const isDone = status(task_id) === 200;
          const ended = { agent_id: 'refunds', deferral: null, task_id, pending: 1 };
          if (isDone) server.emit('deferral', ended);
          const body = isDone ? { status: 'resolved' } : { error: 'approver not authorized' };
          return { task_id, status: status(task_id), body };
        }),
      },
    }));
  }

  it('rejects them with one reason, and names the refused ones', async () => {
    const { page, server } = await openInbox(6, '#/approvals?agent=refunds');
    let refused = 't-1';
    decideAs(server, (task) => (task === refused ? 403 : 200));
    await eventually(() => expect(server.streams).toBe(1));
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByLabel('Select issue_refund of refunds').first().check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Reject …' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('h2').first().innerText()).toBe('Reject 2 calls');
    await dialog.getByLabel('Reason for all of them').fill('too many');
    await dialog.getByLabel('Your email address').fill('ann@example.com');
    expect(await faultsOf(page, looks)).toEqual([]);
    await dialog.getByRole('button', { name: 'Reject 2 calls' }).click();
    await dialog.getByText('Rejected 1 call; 1 was refused.').waitFor();
    const said = { note: 'too many', approver_email: 'ann@example.com' };
    expect(server.posts).toEqual([
      {
        path,
        body: { decisions: [0, 1].map((index) => ({ ...pinned(index, 'reject'), ...said })) },
      },
    ]);
    refused = '';
    await page.getByRole('button', { name: 'Reject 1 call' }).click();
    await page.getByText('Rejected 1 call.').waitFor();
    expect(server.posts[1]?.body).toEqual({ decisions: [{ ...pinned(1, 'reject'), ...said }] });
    await eventually(async () => expect(await rows(page).count()).toBe(3));
  });

  it('approves them only after the end of each was in view', async () => {
    const { page, server } = await openInbox(6, '#/approvals?agent=refunds');
    decideAs(server, () => 200);
    await eventually(() => expect(server.streams).toBe(1));
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Select all 5' }).click();
    await page.getByRole('button', { name: 'Approve …' }).click();
    const approve = page.getByRole('dialog').getByRole('button', { name: /^Approve/ });
    // The others are below.
    await page.getByText(/^[12] of 5 seen\./).waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 500 });
    expect(await approve.isDisabled()).toBe(true);
    const open = approve.and(page.locator(':enabled'));
    const next = page.getByRole('button', { name: 'Show the next' });
    await eventually(async () => {
      if (await next.isVisible()) await next.click({ timeout: 500 }).catch(() => undefined);
      expect(await open.count()).toBe(1);
    });
    await open.click();
    await page.getByText('Approved 5 calls.').waitFor();
    expect(server.posts).toEqual([
      { path, body: { decisions: [0, 1, 2, 4, 5].map((index) => pinned(index, 'approve')) } },
    ]);
  });
});

describe('an approval that releases later calls', () => {
  it('shows what it would release, is listed, and is ended', async () => {
    const server = await startPageServer();
    server.agents = [anAgent({ id: 'refunds' })];
    server.deferrals = [aDeferral({ remember: { for: '8h0m0s', uses: 20 } })];
    const grant = {
      ...{ agent_id: 'refunds', id: 'g-1', tool: 'issue_refund', scope: 'caller' },
      ...{ when: 'args.amount <= 90.0', requester: 'ann', approver: 'bo', deferral_id: 'd-1' },
      since: new Date().toISOString(),
      until: new Date(Date.now() + 3_600_000).toISOString(),
      ...{ uses_left: 5, suspended: false },
    };
    let grants: object[] = [];
    server.routes.set('GET /api/grants', () => ({ body: { grants, unasked: [] } }));
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => {
      grants = [grant];
      server.deferrals = [];
      server.emit('deferral', {
        ...{ agent_id: 'refunds', deferral: null, task_id: 'refund-1', pending: 0 },
      });
      return { body: { status: 'resolved' } };
    });
    server.routes.set('POST /api/agents/refunds/grants/g-1/revoke', () => {
      grants = [];
      return { body: grant };
    });
    const { page } = await browser.page({});
    await page.goto(`${server.url}#/approvals`);
    await page.getByLabel('Approve later calls like this one too').check();
    await page
      .getByText(
        'Releases up to 5 more calls of issue_refund by this requester with equal arguments within 1h, without a question.',
      )
      .waitFor();
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await page.getByLabel('Number of calls').fill('21');
    await page.getByText('Enter 1 to 20 calls.').waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await page.getByLabel('Number of calls').fill('5');
    await page.getByLabel('Condition').fill('args.amount <= 90.0');
    expect(await faultsOf(page, looks)).toEqual([]);
    await approve.and(page.locator(':enabled')).click();
    await page.getByText('5 left until').waitFor();
    expect(await faultsOf(page, looks)).toEqual([]);
    await page.getByRole('button', { name: 'End the approval of issue_refund' }).click();
    await page.getByText('Approved in advance').waitFor({ state: 'detached' });
    expect(server.posts.map(({ path, body }) => [path, body.remember])).toEqual([
      [
        '/api/agents/refunds/tasks/refund-1/decisions',
        { scope: 'caller', for: '1h', uses: 5, when: 'args.amount <= 90.0' },
      ],
      ['/api/agents/refunds/grants/g-1/revoke', undefined],
    ]);
  });
});

describe('on a phone', () => {
  it('a decision leads back to the filtered list, and a press there approves nothing', async () => {
    const { page, server } = await openInbox(8, '#/approvals?agent=refunds', {
      ...{ width: 360, height: 740, isTouched: true },
    });
    for (const id of ['t-0', 't-1', 't-2']) {
      server.routes.set(`POST /api/agents/refunds/tasks/${id}/decisions`, () => {
        server.deferrals = server.deferrals.filter(({ task_id }) => task_id !== id);
        server.emit('deferral', {
          ...{ agent_id: 'refunds', deferral: null, task_id: id, pending: 5 },
        });
        return { body: { status: 'resolved' } };
      });
    }
    await rows(page).nth(1).tap();
    const approve = page.getByRole('button', { name: 'Approve' });
    await seeWhole(page);
    const { x, y, width, height } = (await approve.boundingBox())!;
    // In reach without scrolling.
    expect(y + height).toBeLessThanOrEqual(740);
    expect(height).toBeGreaterThanOrEqual(44);
    await page.touchscreen.tap(x + width / 2, y + height / 2);
    await page.getByText('Approved: issue_refund of refunds.').waitFor();
    await eventually(() => expect(page.url()).toBe(`${server.url}#/approvals?agent=refunds`));
    await page.touchscreen.tap(x + width / 2, y + height / 2);
    await eventually(async () => expect(await rows(page).count()).toBe(5));
    expect(server.posts.map(({ path }) => path)).toEqual([
      '/api/agents/refunds/tasks/t-1/decisions',
    ]);
  });

  it('Back leads to the row of the shown call', async () => {
    const { page } = await openInbox(40, '#/approvals', { width: 360, height: 740 });
    await rows(page).nth(30).click();
    await page.getByRole('link', { name: 'All waiting calls' }).waitFor();
    await page.goBack();
    await eventually(async () => expect(await focused(page)).toBe('refunds d-30'));
  });
});

/** An inbox with one long open call, in which a person has typed a reason. */
async function openLong(view: { width: number; height: number }, route: string) {
  const server = await startPageServer();
  server.agents = [anAgent({ id: 'refunds', pending_deferrals: 2 })];
  const args = { path: 'pack.sh', content: 'a line\n'.repeat(80), last: 'x' };
  const call = aDeferral({ args, approvers: null });
  const later = new Date(Date.now() + 900_000).toISOString();
  server.deferrals = [call, aDeferral({ id: 'd-9', task_id: 'refund-9', expires_at: later })];
  const { page, complaints } = await browser.page({ ...view, isTouched: view.width < 500 });
  forgive(complaints, ['403', '404']);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(server.url + route);
  if (view.width < 500 && route === '#/approvals') await rows(page).first().tap();
  await page.getByRole('article').waitFor();
  await page.getByLabel('Reason (sent').fill('ask ops first');
  await eventually(() => expect(server.streams).toBe(1));
  const tell = (changed: DeferralJson | null) => {
    server.deferrals = [...(changed === null ? [] : [changed]), ...server.deferrals.slice(1)];
    const about = { agent_id: 'refunds', task_id: call.task_id, pending: server.deferrals.length };
    server.emit('deferral', { ...about, deferral: changed });
  };
  return { server, page, call, tell };
}

describe.each([
  { width: 360, height: 740 },
  { width: 1_024, height: 768 },
  { width: 1_440, height: 900 },
])('an open call, $width px wide,', (view) => {
  it('begins with its start, and accepts an approval once each start and end was in view', async () => {
    const { page } = await openLong(view, '#/approvals');
    const approve = page.getByRole('button', { name: 'Approve' });
    const inWindow = async (part: Locator) => {
      const { y = -1, height = 0 } = (await part.boundingBox()) ?? {};
      return y >= 0 && y + height <= view.height;
    };
    expect(await inWindow(page.getByRole('heading', { name: 'issue_refund' }))).toBe(true);
    expect(await inWindow(approve)).toBe(true);
    expect(await approve.isDisabled()).toBe(true);
    // The end alone is not enough: the name of the last argument, and the end of the text, were never in view.
    await page.getByRole('region', { name: 'The call' }).evaluate((part: any) => {
      part.scrollTop = part.scrollHeight;
    });
    await seeWhole(page);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('accepts no approval after a message until it was in view for a second', async () => {
    const { page, call, tell } = await openLong(view, '#/approvals/refunds/refund-1');
    const approve = await seeWhole(page);
    await page.getByRole('region', { name: 'The call' }).evaluate((part: any) => {
      part.scrollTop = part.scrollHeight;
    });
    tell({ ...call, messages: [{ from: 'ann@example.com', text: 'STOP, the wrong order' }] });
    await page.getByText('until you have read 1 new message.').waitFor();
    expect(await approve.isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Reject' }).isEnabled()).toBe(true);
    expect(await page.locator('[aria-live=assertive]').innerText()).toBe(
      'New message from ann@example.com: STOP, the wrong order',
    );
    await page.getByRole('button', { name: 'Show it' }).click();
    await approve.and(page.locator(':enabled')).waitFor();
    const [news, args] = await Promise.all([
      page.getByText('New since you opened this call').boundingBox(),
      page.getByRole('heading', { name: 'Arguments' }).boundingBox(),
    ]);
    expect(news!.y).toBeLessThan(args!.y);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('shows a refusal in the window', async () => {
    const { server, page } = await openLong(view, '#/approvals/refunds/refund-1');
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      ...{ status: 403, body: { error: 'approver not authorized' } },
    }));
    await page.getByRole('button', { name: 'Reject' }).and(page.locator(':enabled')).click();
    const { y, height } = (await page.getByRole('alert').boundingBox())!;
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(view.height);
  });
});

it('the unselected first call of the list stays open when another person decides it', async () => {
  const { page, tell } = await openLong({ width: 1_280, height: 800 }, '#/approvals');
  expect(page.url()).toContain('#/approvals/refunds/refund-1');
  tell(null);
  await page.getByText('no longer pending').waitFor();
  expect(await page.getByLabel('Your unsent reason').inputValue()).toBe('ask ops first');
  expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
  await page.getByRole('button', { name: 'Next call' }).click();
  await eventually(() => expect(page.url()).toContain('#/approvals/refunds/refund-9'));
});

it('a typed reason is kept over a reload', async () => {
  const { page } = await openLong({ width: 1_280, height: 800 }, '#/approvals');
  await page.reload();
  await page.getByRole('article').waitFor();
  expect(await page.getByLabel('Reason (sent').inputValue()).toBe('ask ops first');
});

it('an approved hold is shown as released until its program has reported the outcome', async () => {
  const { server, page, call, tell } = await openLong({ width: 1_280, height: 800 }, '#/approvals');
  tell({ ...call, args: { path: 'x' }, hold: { key: 'k-1', cwd: '/home/ann/shop' } });
  const at = new Date(Date.parse(call.requested_at) + 1_000).toISOString();
  const event = (name: string, fields: object = {}) => ({
    ...{ line: 1, seq: 1, at, event: name, fields: { tool: call.tool, ...fields } },
  });
  const timeline = [event('task_deferred_decision', { decision: 'approve' }), event('session_end')];
  server.routes.set('GET /api/agents/refunds/tasks/refund-1', () => ({ body: { timeline } }));
  server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => {
    tell(null);
    return { body: { status: 'resolved' } };
  });
  await page.reload();
  await page.getByText('/home/ann/shop').waitFor();
  await (await seeWhole(page)).click();
  const own = page.getByRole('region', { name: 'Decided by you' });
  await own.getByText('released, not reported yet').waitFor();
  timeline.push(event('hold_released'), event('hold_outcome', { status: 'succeeded' }));
  await own.getByText('ran', { exact: true }).waitFor();
});
