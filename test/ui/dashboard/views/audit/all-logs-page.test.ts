import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { faultsOf, twoLooks } from '../../../../helpers/faults-of.ts';
import { listedAgent, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';
import { answerLog } from '../../../../helpers/served-log.ts';

const own = testKey('service-audit-v1', 1);
let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

/** A signed log with an event every two minutes, from a minute on. */
function linesOf(agent: string, from: number, count = 80): string[] {
  const event = (index: number) => ({
    ...{ event: index % 10 === 0 ? 'session_start' : 'tool_exec', seq: index + 1 },
    ts: new Date(Date.UTC(2026, 6, 1, 8, from + 2 * index)).toISOString(),
    ...{ task_id: `${agent}-1`, fields: { tool: `tool_of_${agent}`, phase: 'start' } },
  });
  return logOf(
    Array.from({ length: count }, (_, index) => event(index)),
    undefined,
    own.signer,
  ).lines;
}

const logs: Record<string, string[]> = {
  billing: linesOf('billing', 0),
  refunds: linesOf('refunds', 1).with(79, 'this is no line\n'),
};

function serve() {
  const agents = ['billing', 'refunds', 'broken'].map((id) => listedAgent(id));
  return servePage(
    workspaceApi(agents, (url) => {
      if (url.pathname === '/api/agents/broken/audit') {
        return Response.json({ error: 'the audit log lies outside' }, { status: 409 });
      }
      return Object.entries(logs)
        .map(([id, lines]) => answerLog(url, id, { lines, keys: [own.publicKey] }))
        .find((answer) => answer !== undefined);
    }),
  );
}

async function open(address: string) {
  const { url } = await serve();
  const { page, complaints } = await browser.page();
  forgive(complaints, ['409']);
  await page.goto(`${url}/${address}`);
  const rows = page.locator('[data-line]');
  await rows.first().waitFor();
  const shown = () =>
    rows.evaluateAll((all: any[]) =>
      all.map((row) => `${row.querySelector('.marks a').textContent} ${row.dataset.line}`),
    );
  return { page, rows, shown };
}

describe('the log of all agents', () => {
  it('is selected from the list, merges the logs by time, and names the agent of each line', async () => {
    const { url } = await serve();
    const { page, complaints } = await browser.page();
    forgive(complaints, ['409']);
    await page.goto(`${url}/#/audit`);
    await page.getByRole('link', { name: 'All agents' }).click();
    const rows = page.locator('[data-line]');
    await rows.nth(99).waitFor();
    const last = await rows.evaluateAll((all: any[]) =>
      all
        .slice(-3)
        .map((row) => `${row.querySelector('.marks a').textContent} ${row.dataset.line}`),
    );
    expect(last).toEqual(['refunds 79', 'billing 80', 'refunds 80']);
    expect(await rows.last().textContent()).toContain('Unreadable line');
    expect(await rows.nth(50).locator('.mark.allow').allTextContents()).toEqual([
      ...[expect.stringContaining('chain'), expect.stringContaining('service-audit-v1')],
    ]);
    expect(await page.getByRole('alert').innerText()).toBe(
      'The log of broken could not be read: the audit log lies outside',
    );
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it('has pages to its beginning, and each page has an address', async () => {
    const { page, shown } = await open('#/audit?agents=all');
    const newest = await shown();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.locator('[data-line="1"]').first().waitFor();
    const oldest = await shown();
    expect([newest.length, oldest.length, new Set([...newest, ...oldest]).size]).toEqual([
      100, 60, 160,
    ]);
    expect(oldest.slice(0, 2)).toEqual(['billing 1', 'refunds 1']);
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0);
    await page.reload();
    await page.locator('[data-line="1"]').first().waitFor();
    expect(await shown()).toEqual(oldest);
    await page.getByRole('link', { name: 'Latest' }).click();
    await page.locator('[data-line="80"]').first().waitFor();
    expect(await shown()).toEqual(newest);
  });

  it('is searched by event and range of time, also in the address', async () => {
    const from = '2026-07-01T10:00:00.000Z';
    const { page, shown } = await open(`#/audit?agents=all&from=${encodeURIComponent(from)}`);
    await page.getByRole('searchbox', { name: 'Event' }).fill('session_start');
    await page.waitForURL(/event=session_start/);
    await page.getByText('4 found').waitFor();
    expect(await shown()).toEqual(['billing 61', 'refunds 61', 'billing 71', 'refunds 71']);
    expect(new URL(page.url()).hash).toContain(`from=${encodeURIComponent(from)}`);
    await page.getByRole('searchbox', { name: 'Event' }).fill('nothing');
    await page.getByText('No matching events').waitFor();
    expect(await faultsOf(page, twoLooks)).toEqual([]);
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.locator('[data-line="79"]').first().waitFor();
  });
});
