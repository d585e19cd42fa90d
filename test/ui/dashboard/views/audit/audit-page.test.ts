import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointedLog, events, logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { everyLook, faultsOf, narrow, narrowLooks } from '../../../../helpers/faults-of.ts';
import { listedAgent, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';
import { answerLog, type ServedLog } from '../../../../helpers/served-log.ts';

const own = testKey('service-audit-v1', 1);
const agent = listedAgent('refunds', { url: 'http://127.0.0.1:8080' });
let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

/** Serves the page over a log whose lines may change while it is looked at. */
function serveLog(log: ServedLog) {
  log.keys ??= [own.publicKey];
  return servePage(workspaceApi([agent], (url) => answerLog(url, 'refunds', log)));
}

describe('the page of an audit log', () => {
  it('verifies a log in the browser, and shows the line with a changed byte', async () => {
    const log = { lines: checkpointedLog(250, own.signer).lines };
    const server = await serveLog(log);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('251 events, 251 valid signatures').waitFor();
    const line = log.lines[119] ?? '';
    log.lines = log.lines.with(119, line.replace('"n":119', '"n":118'));
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('broken at line 120').waitFor();
    await page.getByRole('button', { name: 'Show line' }).click();
    await page.locator('[data-line="120"].bad').waitFor();
    expect(await page.locator('li.bad').count()).toBe(1);
    expect(await page.locator('[data-line="119"] .mark.allow').allInnerTexts()).toEqual([
      expect.stringContaining('chain'),
      expect.stringContaining('service-audit-v1'),
    ]);
    expect(await page.locator('[data-line="121"]').innerText()).toContain(
      'not verifiable after this point',
    );
  });

  it('finds a changed byte in an unsigned log, with both hashes', async () => {
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

  it('shows the command that verifies it, with the keys of a running agent', async () => {
    const server = await serveLog(checkpointedLog(3, own.signer));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    const command = page.locator('section[aria-label=Verification] code');
    expect(await command.innerText()).toBe(
      'holdpoint audit verify --keys http://127.0.0.1:8080/.well-known/service-audit-keys /agents/refunds/.service/audit.ndjson',
    );
  });

  it('shows the next command when the server is unreachable, on a narrow page', async () => {
    const directory = `/agents/${'of-a-long-name'.repeat(8)}`;
    const log = { lines: checkpointedLog(3, own.signer).lines, keys: [own.publicKey] };
    const server = await servePage(
      workspaceApi([listedAgent('refunds', { directory })], (url) =>
        answerLog(url, 'refunds', log),
      ),
    );
    const { page, complaints } = await browser.page(narrow);
    const tellsAll = async () => {
      const note = page.getByRole('alert');
      await note.waitFor();
      expect(await note.innerText()).toContain('Check that holdpoint ui is running.');
      expect(await note.locator('code').innerText()).toBe(
        `holdpoint audit tail --dir ${directory}`,
      );
      expect(await faultsOf(page, narrowLooks)).toEqual([]);
    };
    await page.route('**/api/agents/refunds/audit?*', (route) => route.abort());
    await page.goto(`${server.url}/#/audit/refunds`);
    await tellsAll();
    await page.unroute('**/api/agents/refunds/audit?*');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('[data-line="1"]').waitFor();
    await page.route('**/api/agents/refunds/audit?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await tellsAll();
    // The browser notes what it could not read of its own accord.
    forgive(complaints, ['ERR_FAILED']);
  });

  it('scrolls smoothly over a hundred thousand lines', async () => {
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

  it('searches events and tasks in the whole log', async () => {
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
    await page.getByText('1 found, 3,000 of 3,000 lines searched').waitFor();
    expect(await page.locator('[data-line]').getAttribute('data-line')).toBe('8');
    await page.getByLabel('Event', { exact: true }).fill('');
    await page.getByLabel('Task', { exact: true }).fill('refund');
    await page.getByText('3 found, 3,000 of 3,000 lines searched').waitFor();
    expect(
      await page.locator('.task').evaluateAll((all: any[]) => all.map(({ hash }) => String(hash))),
    ).toEqual(Array(3).fill('#/tasks/refunds/refund-1'));
  });

  it('shows a range in the zone of the browser, page by page, with an address for each', async () => {
    const { lines } = logOf(
      Array.from({ length: 1_440 }, (_, index) => ({
        event: 'llm_call',
        ts: new Date(Date.UTC(2026, 6, 1, 0, index)).toISOString(),
        fields: { n: index },
      })),
    );
    const server = await serveLog({ lines, keys: [] });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    const zone = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone);
    // The browser shows this as a local time, in any zone.
    const local = (minute: number) =>
      page.evaluate(
        (at) => {
          const time = new Date(at);
          return new Date(at - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
        },
        Date.UTC(2026, 6, 1, 0, minute),
      );
    await page.getByRole('combobox', { name: 'Time' }).selectOption('between …');
    await page.locator('search').getByText(zone, { exact: true }).waitFor();
    await page.getByLabel('From').fill(await local(600));
    await page.getByLabel('To', { exact: true }).fill(await local(899));
    await page.getByText('newest 200 found').waitFor();
    const shown = async () => {
      const all = await page
        .locator('[data-line]')
        .evaluateAll((rows: any[]) => rows.map((row) => Number(row.dataset.line)));
      return [all.length, all[0], all.at(-1)];
    };
    expect(await shown()).toEqual([200, 701, 900]);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByText('100 found').waitFor();
    expect(await shown()).toEqual([100, 601, 700]);
    expect(new URL(page.url()).hash).toBe(
      '#/audit/refunds?from=2026-07-01T10%3A00%3A00.000Z&to=2026-07-01T14%3A59%3A59.999Z&before=701',
    );
    await page.reload();
    await page.getByText('100 found').waitFor();
    expect(await shown()).toEqual([100, 601, 700]);
    expect(await page.getByLabel('From').inputValue()).toBe(await local(600));
    await page.getByRole('link', { name: 'Latest' }).click();
    await page.getByText('newest 200 found').waitFor();
    await page.getByRole('combobox', { name: 'Time' }).selectOption('any');
    await page.waitForURL(/#\/audit\/refunds$/);
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.locator('[data-line="1340"]').waitFor();
    expect(new URL(page.url()).hash).toBe('#/audit/refunds?before=1341');
    await page.reload();
    await page.locator('[data-line="1340"]').waitFor();
    await page.goBack();
    await page.locator('[data-line="1440"]').waitFor();
  });

  it('shows the text of others in a log as text', async () => {
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

  it('leads from a line to its task and to its filtered log, and back to the line', async () => {
    const { lines } = logOf(
      Array.from({ length: 900 }, (_, index) => ({
        event: 'guardrail_check',
        ts: '2026-07-01T09:00:00.000Z',
        task_id: `t-${index % 300}`,
        fields: { decision: index === 407 ? 'deny' : 'redact' },
      })),
    );
    const server = await serveLog({ lines, keys: [] });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds?line=408`);
    const row = page.locator('[data-line="408"][aria-current]');
    await row.waitFor();
    expect(await row.locator('.task').getAttribute('href')).toBe('#/tasks/refunds/t-107');
    await row.getByRole('link', { name: 'filter by task' }).click();
    await page.getByText('3 found').waitFor();
    await page.getByLabel('Decision', { exact: true }).selectOption('deny');
    await page.getByText('1 found').waitFor();
    expect(new URL(page.url()).hash).toBe('#/audit/refunds?task=t-107&decision=deny');
    await page.getByRole('link', { name: 'Line 408 in the log' }).click();
    await row.waitFor();
    await page.goBack();
    await page.getByText('1 found').waitFor();
    // What is chosen while something typed waits to be looked for stays chosen.
    await page.getByLabel('Task', { exact: true }).fill('t-105');
    await page.getByLabel('Decision', { exact: true }).selectOption('redact');
    await page.getByText('3 found').waitFor();
    expect(new URL(page.url()).hash).toBe('#/audit/refunds?task=t-105&decision=redact');
  });

  it('names every file and its beginning in the command, when the oldest were removed', async () => {
    const gone = checkpointedLog(8);
    const cut = { event: 'checkpoint', ts: '', fields: { count: 9, head: gone.head } };
    const left = logOf([cut, ...events(3)], gone.head);
    const server = await serveLog({
      lines: left.lines,
      keys: [],
      pruned: { count: 9, head: gone.head },
      files: ["/agents/it's/audit-000000000010.ndjson", "/agents/it's/audit.ndjson"],
    });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByText('refunds · 4 events').waitFor();
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('chain intact').waitFor();
    await page.getByText('verified to checkpoint 9, plus 3 later lines').waitFor();
    await page.getByText('9 earlier events were pruned').waitFor();
    expect(
      await page.locator('section[aria-label=Verification] > :last-child code').innerText(),
    ).toBe(
      `holdpoint audit verify --continued-from ${gone.head} '/agents/it'\\''s/audit-000000000010.ndjson' '/agents/it'\\''s/audit.ndjson'`,
    );
    expect(await page.locator('[data-line] .mark.allow').count()).toBe(4);
  });

  it('stops on request, and reads no more', async () => {
    const { lines } = checkpointedLog(50);
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const server = await servePage(
      workspaceApi([agent], (url, _, request) => {
        if (!url.pathname.endsWith('/lines')) return answerLog(url, 'refunds', { lines });
        request.socket.once('close', () => resolve());
        request.once('close', () => resolve());
        const body = new ReadableStream({
          start: (stream) => stream.enqueue(Buffer.from(lines.slice(0, 20).join(''))),
        });
        return new Response(body);
      }),
    );
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit/refunds`);
    await page.getByRole('button', { name: 'Verify all' }).click();
    await page.getByText('Verifying, 20 of 51').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped after 20 of 51; the rest is not verified.').waitFor();
    await stopped;
    expect(page.workers()).toEqual([]);
  });

  it('lists the available logs', async () => {
    const server = await serveLog(checkpointedLog(3));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/audit`);
    await page.getByRole('main').getByRole('link', { name: 'refunds' }).click();
    await page.locator('[data-line="4"]').waitFor();
  });

  it('is accessible', async () => {
    const { lines } = checkpointedLog(12, own.signer);
    const log = { lines: lines.with(9, (lines[9] ?? '').replace('"n":9', '"n":8')) };
    const server = await serveLog(log);
    const { page } = await browser.page(narrow);
    for (const address of ['#/audit', '#/audit/refunds']) {
      await page.goto(`${server.url}/${address}`);
      await page.locator('main .card').first().waitFor();
      if (address !== '#/audit') {
        await page.getByRole('button', { name: 'Verify all' }).click();
        await page.locator('[data-line="10"].bad').waitFor();
      }
      expect(await faultsOf(page, everyLook)).toEqual([]);
    }
  });
});
