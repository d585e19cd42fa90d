import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentOutcome } from '../../../../../src/http/wire/settlement.ts';
import {
  firstEffectJson,
  measuredLimitJson,
} from '../../../../../src/machines/governance/limit-json.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { faultsOf } from '../../../../helpers/faults-of.ts';
import { aFirstEffect, aMeasuredLimit, anOpenOutcome } from '../../../../helpers/limit-fixtures.ts';
import { aDeferral, anAgent } from '../../../../helpers/page-fixtures.ts';
import type { PageServer } from '../../../../helpers/page-server.ts';
import { startPageServer } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [320, 768, 1920].map((width) => [scheme, width] as const),
);

async function open(route: string, tell: (server: PageServer) => void) {
  const server = await startPageServer();
  server.agents = [anAgent({ id: 'refunds' })];
  tell(server);
  const { page, complaints } = await browser.page({});
  await page.goto(server.url + route);
  return { page, server, complaints };
}

const limit = measuredLimitJson(aMeasuredLimit());

/** The widths of the parts of the bars on the page, in percent. */
const barsOf = (page: Page) =>
  page
    .locator('main svg:has(.used)')
    .evaluateAll((bars) =>
      bars.map((bar) =>
        ['used', 'reserved', 'added'].map((part) =>
          Number(bar.querySelector(`.${part}`)?.getAttribute('width')),
        ),
      ),
    );

describe('a held call', () => {
  it('shows its limits, those that it is over first, and the first call with the same effect', async () => {
    const within = measuredLimitJson(
      aMeasuredLimit({ name: 'calls', by: {}, amount: '1', used: '2', max: '4', isOver: false }),
    );
    const { page } = await open('#/approvals/refunds/refund-1', (server) => {
      const first = firstEffectJson(aFirstEffect({ outcome: 'unknown' }));
      server.deferrals = [aDeferral({ limits: [within, limit], first })];
    });
    const call = page.locator('main');
    await call.getByText('The same effect was requested before').waitFor();
    const repeat = await call.locator('.repeat').innerText();
    expect(repeat.replaceAll(/\s+/g, ' ')).toMatch(
      /^The same effect was requested before by bob@example\.com, .+, approved by ann@example\.com\. Nobody knows the outcome of that call\. refund:A-2001 View its task$/,
    );
    expect(await call.getByText('View its task').getAttribute('href')).toBe('#/tasks/refunds/t-0');
    expect(await call.getByRole('heading', { name: /^Limit / }).allInnerTexts()).toEqual([
      'Limit refunds_a_day for caller rita@example.com',
      'Limit calls',
    ]);
    const standing = '4,200 of 5,000 used in the last 24 h, 300 reserved';
    await call.getByText(standing, { exact: true }).waitFor();
    await call.getByText('This call adds 900 and is over the limit.').waitFor();
    expect(await barsOf(page)).toEqual([
      [84, 6, 10],
      [50, 50, 0],
    ]);
    expect(await faultsOf(page, looks)).toEqual([]);
  });

  it('shows that its amount cannot be measured', async () => {
    const { page } = await open('#/approvals/refunds/refund-1', (server) => {
      server.deferrals = [
        aDeferral({ limits: [measuredLimitJson(aMeasuredLimit({ amount: null }))] }),
      ];
    });
    await page.getByText('What this call adds cannot be measured').waitFor();
    expect(await barsOf(page)).toEqual([[84, 6, 0]]);
  });
});

it('the row of a call shows the limits that it is over, and what it repeats', async () => {
  const within = measuredLimitJson(aMeasuredLimit({ name: 'calls', isOver: false }));
  const { page } = await open('#/approvals', (server) => {
    const first = firstEffectJson(aFirstEffect({ requester: null }));
    server.deferrals = [
      aDeferral({ limits: [within, limit], first }),
      aDeferral({ id: 'd-2', task_id: 'refund-2' }),
    ];
  });
  await page.locator('.mark').first().waitFor();
  const [row, other] = await Promise.all(
    [0, 1].map((index) => page.locator('[data-row]').nth(index).locator('.mark').allInnerTexts()),
  );
  expect(other).toEqual([]);
  expect(row).toEqual([
    'over refunds_a_day: 4,200 of 5,000 used, 300 reserved',
    expect.stringMatching(/^same as refund:A-2001 of an anonymous caller, .+\d\d:\d\d:01$/),
  ]);
  expect(await faultsOf(page, looks)).toEqual([]);
});

describe('the limits on the page of the policy', () => {
  const policy = {
    ...{ tools: [], egress: { mode: 'off', hosts: [] }, auth: { providers: [], required: false } },
    ...{ admission: { enabled: false }, unknown_servers: [], warnings: [] },
  };

  it('have a bar with what is used and reserved, next to their tool as well', async () => {
    const less = { ...limit, by: { caller: '(none)' }, used: 100, reserved: 0, left: 4_900 };
    const decisions = [
      {
        ...{ layer: 'limits', decision: 'limit', rule: 'limits.refunds_a_day' },
        ...{ says: 'at most 5,000 of args.amount in 24 h', limit: 'refunds_a_day' },
      },
    ];
    const tools = [
      { name: 'issue_refund', origin: 'skill', approvers: null, decisions },
      { name: 'lookup_order', origin: 'skill', approvers: null, decisions: [] },
      {
        ...{ name: 'set_price', origin: 'skill', approvers: null },
        decisions: [
          {
            ...{ layer: 'defer', decision: 'defer', rule: 'defer.tools.set_price' },
            ...{ says: 'waits for a person', shadow: { times: 7, days: 7 } },
          },
        ],
      },
    ];
    const { page } = await open('#/agents/refunds/policy', (server) => {
      server.routes.set('GET /api/agents/refunds/policy', () => ({ body: { ...policy, tools } }));
      server.routes.set('GET /api/agents/refunds/limits', () => ({
        body: { limits: [less, limit] },
      }));
    });
    await page.getByText('refunds_a_day for anonymous callers').waitFor();
    const rows = await page.locator('.tools li').allInnerTexts();
    expect(rows.map((text) => text.split('\n').filter((line) => line !== ''))).toEqual([
      [
        ...['issue_refund', 'skill', 'limit'],
        'at most 5,000 of args.amount in 24 h limits.refunds_a_day',
        '4,200 of 5,000 used in the last 24 h, 300 reserved',
        ...['refunds_a_day for caller rita@example.com, and 1 more below'],
        'every other call runs without approval',
      ],
      ['lookup_order', 'skill', 'allow (no rule applies)'],
      [
        ...['set_price', 'skill', 'shadow', 'waits for a person defer.tools.set_price'],
        'It decides nothing, and would have asked 7 times in the last 7 days.',
        'allow (no rule applies)',
      ],
    ]);
    const listed = page.getByRole('region', { name: 'Limits' });
    await listed.getByText('refunds_a_day for caller rita@example.com').waitFor();
    await listed.getByText('4,200 of 5,000 used in the last 24 h, 300 reserved').waitFor();
    await listed.getByText('500 left').waitFor();
    expect(await barsOf(page)).toEqual([
      [84, 6, 0],
      [2, 0, 0],
      [84, 6, 0],
    ]);
    expect(await faultsOf(page, looks)).toEqual([]);
  });

  it('are absent for an agent without any, and for one that does not run', async () => {
    for (const status of ['running', 'stopped'] as const) {
      const limits = status === 'running' ? [] : [limit];
      const { page } = await open('#/agents/refunds/policy', (server) => {
        server.agents = [anAgent({ id: 'refunds', status })];
        server.routes.set('GET /api/agents/refunds/policy', () => ({ body: policy }));
        server.routes.set('GET /api/agents/refunds/limits', () => ({ body: { limits } }));
      });
      await page.getByRole('heading', { name: 'Access' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Limits' }).count()).toBe(0);
    }
  });
});

describe('calls whose outcome nobody knows', () => {
  const call = { agent_id: 'refunds', ...presentOutcome(anOpenOutcome()) };
  const statement = {
    ...{ ran: false, by: 'ann', reason: 'not at the bank', at: 5_000, contradictedAt: 6_000 },
  };
  const settled = {
    agent_id: 'refunds',
    ...presentOutcome(anOpenOutcome({ settled: statement })),
  };

  it('are settled with a reason, and show who said so', async () => {
    let isSettled = false;
    const { page, server } = await open('#/approvals', (told) => {
      told.routes.set('GET /api/outcomes', () => ({
        body: isSettled
          ? { open: [], settled: [settled], unasked: [] }
          : { open: [call], settled: [], unasked: [] },
      }));
      told.routes.set('POST /api/agents/refunds/outcomes', () => {
        isSettled = true;
        return { body: settled };
      });
    });
    await page.getByRole('heading', { name: 'Calls whose outcome nobody knows' }).waitFor();
    await page.getByText('refund:A-2001').waitFor();
    expect(await page.getByText('View task').getAttribute('href')).toBe('#/tasks/refunds/t-1');
    await page.getByRole('button', { name: 'It did not run' }).click();
    await page.getByText('Enter the reason why you are certain.').waitFor();
    expect(server.posts).toEqual([]);
    expect(await faultsOf(page, looks)).toEqual([]);
    await page.getByLabel('Reason for issue_refund').fill('not at the bank');
    await page.getByRole('button', { name: 'It did not run' }).click();
    await page.getByText('None. Each of them was settled.').waitFor();
    await page.getByText('It did not run, says ann').waitFor();
    await page.getByText('The call was reported as succeeded').waitFor();
    await page.getByText('not at the bank').waitFor();
    expect(server.posts).toEqual([
      {
        path: '/api/agents/refunds/outcomes',
        body: { call_id: 'call-1', ran: false, reason: 'not at the bank' },
      },
    ]);
    expect(await faultsOf(page, looks)).toEqual([]);
  });

  it('show why a statement was refused', async () => {
    const { page, complaints } = await open('#/approvals', (told) => {
      const open = { open: [call], settled: [], unasked: [] };
      told.routes.set('GET /api/outcomes', () => ({ body: open }));
      told.routes.set('POST /api/agents/refunds/outcomes', () => ({
        status: 409,
        body: { error: 'ann settled the call', code: 'outcome_settled' },
      }));
    });
    await page.getByLabel('Reason for issue_refund').fill('it is in the log of the bank');
    await page.getByRole('button', { name: 'It ran' }).click();
    await page.getByRole('alert').getByText('ann settled the call').waitFor();
    forgive(complaints, ['409']);
  });
});
