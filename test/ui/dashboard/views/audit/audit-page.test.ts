import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditJson } from '../../../../../src/http/wire/dashboard/audit-json.ts';
import { checkpointedLog, logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { missingOf, TestBrowser } from '../../../../helpers/browser.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { listedAgent, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { buildPage, servePage } from '../../../../helpers/serve-page.ts';
import { violationsOf } from '../../../../helpers/violations-of.ts';

const own = testKey('service-audit-v1', 1);
const agent = listedAgent('refunds', { url: 'http://127.0.0.1:8080' });
let browser: TestBrowser;

beforeAll(async () => {
  buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

/** Serves the page over a log whose lines may change while it is looked at. */
function serveLog(log: { lines: readonly string[]; keys?: unknown[] }) {
  return servePage(
    workspaceApi([agent], (url): AuditJson | undefined => {
      if (url.pathname !== '/api/agents/refunds/audit') return undefined;
      const { lines, keys = [own.publicKey] } = log;
      const limit = Number(url.searchParams.get('limit') ?? 200);
      const end = Math.min(
        lines.length,
        Number(url.searchParams.get('before') ?? lines.length + 1) - 1,
      );
      const first = Math.max(1, end - limit + 1);
      return {
        events: lines
          .slice(first - 1, end)
          .map((line, index) => ({ seq: first + index, line: line.replace(/\n$/, '') })),
        first,
        total: lines.length,
        verified: { ok: true, events: lines.length },
        keys,
        path: '/agents/refunds/.service/audit.ndjson',
      };
    }),
  );
}

describe('the page of an audit log', () => {
  it('verifies a log by itself, and shows the very line in which a byte was changed', async () => {
    const log = { lines: checkpointedLog(250, own.signer).lines };
    const server = await serveLog(log);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('251 events, 251 signatures good').waitFor();
    const line = log.lines[119] ?? '';
    log.lines = log.lines.with(119, line.replace('"n":119', '"n":118'));
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('broken at line 120').waitFor();
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.locator('[data-line="120"].bad').waitFor();
    expect(await page.locator('li.bad').count()).toBe(1);
    expect(await page.locator('[data-line="119"] .mark.allow').allInnerTexts()).toEqual([
      expect.stringContaining('chain'),
      expect.stringContaining('service-audit-v1'),
    ]);
    expect(await page.locator('[data-line="121"]').innerText()).toContain('after the break');
  });

  it('finds a changed byte in a log without signatures, with both hashes', async () => {
    const { lines } = checkpointedLog(30);
    const log = { lines: lines.with(9, (lines[9] ?? '').replace('"n":9', '"n":8')), keys: [] };
    const server = await serveLog(log);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByRole('button', { name: 'Verify all' }).click();
    const bad = page.locator('[data-line="10"].bad');
    await bad.waitFor();
    const { prev_hash: written } = JSON.parse(lines[10] ?? '') as { prev_hash: string };
    expect(await bad.locator('dd').allInnerTexts()).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      written,
    ]);
  });

  it('shows the command that verifies it, with the keys of an agent that runs', async () => {
    const server = await serveLog(checkpointedLog(3, own.signer));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    const command = page.locator('section[aria-label=Verification] code');
    expect(await command.innerText()).toBe(
      'holdpoint audit verify --keys http://127.0.0.1:8080/.well-known/service-audit-keys /agents/refunds/.service/audit.ndjson',
    );
  });

  it('stays fluid over a hundred thousand lines', async () => {
    const server = await serveLog({ lines: checkpointedLog(100_000).lines, keys: [] });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.locator('[data-line="100001"]').waitFor();
    expect(await page.locator('[data-line]').count()).toBe(100);
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.locator('progress').waitFor();
    await page.getByRole('button', { name: 'First' }).click();
    await page.locator('[data-line="1"]').waitFor();
    await page.getByRole('button', { name: 'Newer' }).click();
    await page.locator('[data-line="101"]').waitFor();
    await page.getByText('chain intact').waitFor({ timeout: 110_000 });
  }, 180_000);

  it('looks for events and tasks in all of the log', async () => {
    const { lines } = logOf(
      Array.from({ length: 3_000 }, (_, index) => ({
        event: index === 7 ? 'task_deferred' : 'llm_call',
        ts: '2026-07-01T09:00:00.000Z',
        task_id: index % 1_000 === 7 ? 'refund-1' : 'other',
        fields: { n: index },
      })),
    );
    const server = await serveLog({ lines, keys: [] });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByLabel('Event', { exact: true }).fill('deferred');
    await page.getByText('1 found, 3,000 of 3,000 looked at').waitFor();
    expect(await page.locator('[data-line]').getAttribute('data-line')).toBe('8');
    await page.getByLabel('Event', { exact: true }).fill('');
    await page.getByLabel('Task', { exact: true }).fill('refund');
    await page.getByText('3 found, 3,000 of 3,000 looked at').waitFor();
    expect(
      await page.locator('.task').evaluateAll((all: any[]) => all.map(({ hash }) => String(hash))),
    ).toEqual(Array(3).fill('#/tasks/refunds/refund-1'));
  });

  it('shows what others wrote into a log as text', async () => {
    const { lines } = logOf(
      evilTexts.map((text) => ({
        event: text,
        ts: '2026-07-01T09:00:00.000Z',
        task_id: text,
        fields: { tool: text, [text]: text },
      })),
    );
    const server = await serveLog({ lines: [...lines, ...evilTexts], keys: [] });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.locator('[data-line]').first().waitFor();
    await page.locator('summary').evaluateAll((all: any[]) => all.forEach((one) => one.click()));
    const foreign =
      'main :is(img, script, iframe, svg:not(.lucide-icon), object, form, style, base)';
    expect(await page.locator(foreign).count()).toBe(0);
    expect(await page.title()).toBe('Audit of refunds · Holdpoint');
  });

  it('lists whose logs there are', async () => {
    const server = await serveLog(checkpointedLog(3));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit`);
    await page.getByRole('main').getByRole('link', { name: 'refunds' }).click();
    await page.locator('[data-line="4"]').waitFor();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
    ['dark', 320],
  ] as const)('can be used by everybody, %s and %i px wide', async (scheme, width) => {
    const { lines } = checkpointedLog(12, own.signer);
    const log = { lines: lines.with(9, (lines[9] ?? '').replace('"n":9', '"n":8')) };
    const server = await serveLog(log);
    const { page } = await browser.page({ scheme, width });
    for (const address of ['#/audit', '#/audit/refunds']) {
      await page.goto(`${server.url}/${address}`);
      await page.locator('main .card').first().waitFor();
      if (address !== '#/audit') {
        await page.getByRole('button', { name: 'Verify all' }).click();
        await page.locator('[data-line="10"].bad').waitFor();
      }
      expect(await missingOf(page)).toEqual([]);
      expect(await violationsOf(page)).toEqual([]);
    }
  });
});
