import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { faultsOf } from '../../../../helpers/faults-of.ts';
import { anOverview, anOverviewDay } from '../../../../helpers/overview-fixtures.ts';
import { aDeferral, anAgent } from '../../../../helpers/page-fixtures.ts';
import type { PageServer } from '../../../../helpers/page-server.ts';
import { startPageServer } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [320, 768, 1024, 1920].map((width) => [scheme, width] as const),
);

async function open(tell: (server: PageServer) => void) {
  const server = await startPageServer();
  server.agents = [anAgent({ id: 'refunds', pending_deferrals: 1 })];
  tell(server);
  const { page, complaints } = await browser.page({});
  await page.goto(server.url);
  return { page, server, complaints };
}

const to = Date.parse('2026-11-29T12:00:00.000Z');
const busy = anOverview({
  days: [
    anOverviewDay({ day: '2026-11-28', approved: 4, rejected: 1, p50_ms: 90_000, p95_ms: 240_000 }),
    anOverviewDay({
      approved: 2,
      changed: 1,
      expired: 1,
      failed: 1,
      p50_ms: 60_000,
      p95_ms: 120_000,
    }),
  ],
  ...{ p50_ms: 80_000, p95_ms: 240_000 },
  people: [{ name: 'ann@example.com', decisions: 8, rejected: 1, median_ms: 80_000 }],
  failures: [
    {
      ...{ agent_id: 'refunds', tool: 'issue_refund', failed: 1, ran: 7 },
      ...{ last_error: 'There is no order <b>A-1990</b>', task_id: 't-9' },
    },
  ],
  agents: [
    {
      ...{ agent_id: 'refunds', input_tokens: 14_800, output_tokens: 2_500 },
      spans: [
        { state: 'working', from: to - 7_200_000, to: to - 3_600_000 },
        { state: 'waiting', from: to - 3_600_000, to },
      ],
    },
  ],
});

describe('the overview', () => {
  it('is the first page, and shows what waits, what was decided and how long it took', async () => {
    const { page, complaints } = await open((server) => {
      server.deferrals = [aDeferral()];
      server.routes.set('GET /api/overview', () => ({ body: busy }));
    });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('call needs approval').waitFor();
    const rowsOf = async (name: string) =>
      (await page.getByRole('region', { name }).locator('tbody tr').allInnerTexts()).map((row) =>
        row.split(/\s*[\t\n]\s*/),
      );
    expect(await rowsOf('Decisions a day')).toEqual([
      ['7 days', '6', '1', '1', '1', '9'],
      ['Nov 29', '2', '1', '0', '1', '4'],
    ]);
    expect(await rowsOf('Time to decide')).toEqual([
      ['7 days', '1 min 20 s', '4 min'],
      ['Nov 29', '1 min', '2 min'],
    ]);
    expect(await rowsOf('Who decides')).toEqual([['ann@example.com', '8', '1', '1 min 20 s']]);
    expect(await rowsOf('Failed after an approval')).toEqual([
      ['issue_refund', 'refunds', '1 of 7', 'There is no order <b>A-1990</b>'],
    ]);
    const strip = page.getByRole('region', { name: 'Agents, last 24 h' });
    expect(await strip.locator('rect.waiting').count()).toBe(1);
    expect(await strip.innerText()).toContain('waited 1 h');
    await page.getByRole('region', { name: 'Decisions a day' }).getByText('Show all days').click();
    expect((await rowsOf('Decisions a day')).map(([day]) => day)).toEqual([
      '7 days',
      'Nov 29',
      'Nov 28',
    ]);
    expect(await faultsOf(page, looks)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('asks for the chosen range and agent in the zone of the reader', async () => {
    const asked: string[] = [];
    const { page } = await open((server) => {
      server.routes.set('GET /api/overview', (_, { searchParams: query }) => {
        asked.push([query.get('from'), query.get('agent'), query.get('zone')].join(' '));
        return { body: busy };
      });
    });
    const zone = await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone');
    await page.getByText('30 days').click();
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('refunds');
    await page.waitForURL(/range=30d&agent=refunds/);
    await expect.poll(() => asked.at(-1)).toBe(`30d refunds ${zone}`);
    expect(asked[0]).toBe(`7d  ${zone}`);
  });

  it('leads to a first call where nothing was asked, and names logs that it cannot read', async () => {
    const { page } = await open((server) => {
      const unread = [{ agent_id: 'ops', problem: 'its log is not a regular file' }];
      server.routes.set('GET /api/overview', () => ({ body: anOverview({ unread }) }));
    });
    await page.getByText('Nothing needed approval in the last 7 days').waitFor();
    await page.getByText('The log of ops is not all here: its log is not a regular file').waitFor();
    expect(await page.getByRole('link', { name: 'Send refunds a task' }).getAttribute('href')).toBe(
      '#/agents/refunds/chat',
    );
    expect(await faultsOf(page, looks)).toEqual([]);
  });
});
