import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskDetailJson } from '../../../../../src/http/wire/dashboard/task-detail-json.ts';
import { logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { faultsOf, twoLooks } from '../../../../helpers/faults-of.ts';
import { listedAgent, listedTask, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { editedReceipt, receiptOfCall } from '../../../../helpers/receipts-of.ts';
import { servePage } from '../../../../helpers/serve-page.ts';
import { answerLog, type ServedLog } from '../../../../helpers/served-log.ts';

const own = testKey('service-audit-v1', 1);
const foreign = testKey('service-audit-v1', 2);
const other = testKey('x', 2);
const { lines, receipt } = receiptOfCall(own.signer);
const changed = editedReceipt(receipt, 'ann@example.com', 'eve@example.com');
const place = '/api/agents/refunds/tasks/t-1/calls/c-1/receipt';
let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

interface Served {
  log?: ServedLog;
  receipt?: string | Response;
  task?: TaskDetailJson;
}

/** Serves the page over an agent with one log, which answers a request for the receipt of its call. */
function serve({
  log = { lines, keys: [own.publicKey] },
  receipt: answer = receipt,
  task,
}: Served = {}) {
  return servePage(
    workspaceApi([listedAgent('refunds')], (url) => {
      if (url.pathname === place)
        return answer instanceof Response ? answer.clone() : new Response(answer);
      if (url.pathname === '/api/agents/refunds/tasks/t-1') return task;
      return answerLog(url, 'refunds', log);
    }),
  );
}

/** Opens the dialog of a call from its line in the log. */
async function openDialog(page: Page, url: string) {
  await page.goto(`${url}/#/audit/refunds`);
  const row = page.locator('[data-line="4"]');
  await row.locator('summary').click();
  await row.getByRole('button', { name: 'Verify receipt' }).click();
  return page.getByRole('dialog', { name: 'Receipt' });
}

const file = (name: string, text: string) => ({
  ...{ name, mimeType: 'text/plain', buffer: Buffer.from(text) },
});
const keysFile = (...keys: unknown[]) => file('keys.json', JSON.stringify({ keys }, null, 2));

/** Opens the page of receipts, and notes what it requests after the files were chosen. */
async function openFiles(...files: ReturnType<typeof file>[]) {
  const server = await serve();
  const { page } = await browser.page();
  // The page itself is loaded before the first file.
  const loads = ['workspace', 'agents', 'deferrals'].map((name) =>
    page.waitForResponse((response) => response.url().endsWith(`/api/${name}`)),
  );
  await page.goto(`${server.url}/#/receipts`);
  await Promise.all(loads);
  const field = page.getByLabel('Receipts, key sets and log files');
  await field.waitFor({ state: 'attached' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const choose = (...more: ReturnType<typeof file>[]) => field.setInputFiles(more);
  if (files.length > 0) await choose(...files);
  return { page, asked, choose };
}

describe('the receipt of a call', () => {
  it('is verified from the line of the log, with all its statements', async () => {
    const { url } = await serve();
    const { page } = await browser.page();
    const dialog = await openDialog(page, url);
    await dialog.getByText('Signature valid, and the log has its lines.').waitFor();
    const rows = await dialog.locator('dl.story > dd').allInnerTexts();
    const told = rows.map((text) => text.replaceAll(/\s+/g, ' ').trim());
    const time = expect.stringMatching(/\d\d:\d\d:\d\d/);
    expect(told).toEqual(Array(7).fill(expect.any(String)));
    expect(told[1]).toBe('rita@example.com authenticated by sso');
    expect(told[2]).toMatch(
      /^issue_refund .*Refund order A-1042 \{ "amount": 89.9, "order": "A-1042" \} task t-1, call c-1 call a{64} code b{64}$/,
    );
    expect(told[3]).toMatch(
      /^hold awaiting channel:slack:#refunds defer\.tools\.issue_refund\[0\] .* policy c{64}$/,
    );
    expect(told[4]).toMatch(
      /^approved ann@example\.com signed in with a token, sso .* seen the photo$/,
    );
    expect(told[5]).toMatch(/^succeeded started .*, ended .* 412 ms result, 24 bytes d{64}$/);
    expect(told[6]?.match(/in the log/g)).toHaveLength(6);
    expect(told[0]).toEqual(time);
    expect(await dialog.locator('code').last().innerText()).toBe(
      'holdpoint receipt t-1 c-1 --dir /agents/refunds',
    );
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it.each([
    [
      'a changed member',
      { receipt: changed },
      'the signature does not match: a member was changed',
    ],
    [
      'a foreign key',
      { receipt: receiptOfCall(other.signer).receipt },
      'kid "x" is not one of the keys',
    ],
    [
      'a wrong line of the log',
      { log: { lines: lines.with(3, lines[3]!.replace('ann@', 'eve@')), keys: [own.publicKey] } },
      /^the log has no line with the hash [0-9a-f]{64}$/,
    ],
    [
      'a missing receipt',
      { receipt: 'hello' },
      'it is not a receipt: a compact JWS with a JSON header and JSON claims',
    ],
  ] as [string, Served, string | RegExp][])(
    'shows %s in one sentence, and nothing unproven',
    async (_, served, reason) => {
      const { url } = await serve(served);
      const { page } = await browser.page();
      const dialog = await openDialog(page, url);
      const said = await dialog.getByRole('alert').innerText();
      const [, why = ''] = /^Not valid: (.*)\.$/.exec(said) ?? [];
      expect(why).toMatch(reason);
      expect(await dialog.innerText()).not.toContain('example.com');
    },
  );

  it('shows the reason of an agent that issues none', async () => {
    const error = 'this agent does not sign its log, so it has no receipts';
    const { url } = await serve({ receipt: Response.json({ error }, { status: 409 }) });
    const { page, complaints } = await browser.page();
    forgive(complaints, ['409']);
    const dialog = await openDialog(page, url);
    expect(await dialog.getByRole('alert').innerText()).toBe(error);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Download receipt' }).click();
    await page.getByRole('alert').getByText(error).waitFor();
  });

  it('is downloaded as the agent signed it', async () => {
    const { url } = await serve();
    const { page } = await browser.page();
    await page.goto(`${url}/#/audit/refunds`);
    const row = page.locator('[data-line="4"]');
    await row.locator('summary').click();
    const waiting = page.waitForEvent('download');
    await row.getByRole('button', { name: 'Download receipt' }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe('t-1.c-1.receipt');
    expect(await text(await download.createReadStream())).toBe(`${receipt}\n`);
  });

  it('is offered with each call of a task', async () => {
    const task: TaskDetailJson = {
      ...listedTask(1, { id: 't-1' }),
      task: {},
      statechart: { machine: 'task', version: 1, value: 'completed', states: [] },
      decisions: [
        {
          ...{ call_id: 'c-1', tool: 'issue_refund', layer: 'defer', decision: 'defer' },
          ...{ reason: '', duration_ms: 1 },
        },
      ],
      deferral: null,
      timeline: [],
    };
    const { url } = await serve({ task });
    const { page } = await browser.page();
    await page.goto(`${url}/#/tasks/refunds/t-1`);
    await page.getByRole('button', { name: 'Verify receipt' }).click();
    await page.getByText('Signature valid, and the log has its lines.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it('shows hostile claims as text', async () => {
    const signed = logOf(
      evilTexts.map((text, index) => ({
        ...{ event: 'call_ruled', seq: index, task_id: 't-1', ts: text },
        fields: { call_id: 'c-1', decision: 'deny', reason: text, layer: text, tool: text },
      })),
      undefined,
      own.signer,
    );
    const { receipt: hostile } = receiptOfCall(own.signer, signed.lines);
    const { url } = await serve({ receipt: hostile, log: { ...signed, keys: [own.publicKey] } });
    const { page } = await browser.page();
    await page.goto(`${url}/#/audit/refunds`);
    const row = page.locator('[data-line="1"]');
    await row.locator('summary').click();
    await row.getByRole('button', { name: 'Verify receipt' }).click();
    await page.getByText('Signature valid, and the log has its lines.').waitFor();
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });
});

/** The page reads these again from time to time, on every view. */
const lookedAt = new Set(['/api/workspace', '/api/agents', '/api/deferrals']);

describe('files of receipts', () => {
  it('are verified in the browser, without a request', async () => {
    const { page, asked } = await openFiles(
      file('refund.receipt', `${receipt}\n`),
      keysFile(own.publicKey),
      file('audit.ndjson', lines.join('')),
    );
    await page.getByText('Signature valid, and the log has its lines.').waitFor();
    expect(await page.locator('.files').innerText()).toBe('1 receipt, 1 key set, 1 log file');
    expect(asked.filter((url) => !lookedAt.has(new URL(url).pathname))).toEqual([]);
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it('prove nothing without a key set, and little without the log', async () => {
    const { page, choose } = await openFiles(file('refund.receipt', receipt));
    await page.getByText('Add the key set of the agent, with the key service-audit-v1.').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('example.com');
    await choose(keysFile(own.publicKey));
    await page.getByText('Signature valid. Not compared with a log.').waitFor();
    await choose(file('audit.ndjson', lines.join('')));
    await page.getByText('Signature valid, and the log has its lines.').waitFor();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('Signature valid').waitFor({ state: 'detached' });
    await choose(keysFile(own.publicKey));
    await page.getByText('Add a receipt.').waitFor();
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it('show each fault in one sentence: a changed member, a foreign key, a wrong line', async () => {
    const files = [changed, receipt, receiptOfCall(other.signer).receipt].join('\n');
    const without = lines.toSpliced(3, 1).join('');
    const { page } = await openFiles(
      file('many.receipt', files),
      keysFile(own.publicKey),
      file('audit.ndjson', without),
    );
    const cards = page.getByRole('region', { name: /^Receipt \d$/ });
    await cards.nth(2).waitFor();
    expect(await cards.locator('h2').allInnerTexts()).toEqual([
      'many.receipt: the signature does not match: a member was changed',
      expect.stringMatching(/^many\.receipt: the log has no line with the hash [0-9a-f]{64}$/),
      'many.receipt: kid "x" is not one of the keys',
    ]);
    expect(await faultsOf(page, twoLooks)).toEqual([]);
  });

  it('are not proven by a foreign key of the same name', async () => {
    const { page } = await openFiles(file('a', receipt), keysFile(foreign.publicKey));
    await page.getByText('a: the signature does not match: a member was changed').waitFor();
  });

  it.each([
    [
      'a file of another kind',
      file('photo.png', '\u0089PNG'),
      'photo.png is neither a receipt, nor a key set, nor a log.',
    ],
    [
      'a private key',
      keysFile({ ...own.publicKey, d: 'secret' }),
      'key 1 (kid "service-audit-v1") holds a private key; publish the public part alone',
    ],
  ])('are refused with %s', async (_, wrong, sentence) => {
    const { page } = await openFiles(file('a', receipt), wrong);
    const said = await page.getByRole('alert').first().innerText();
    expect(said).toBe(sentence);
  });

  it('can be dropped as well as selected', async () => {
    const { page } = await openFiles();
    const texts = { 'a.receipt': receipt, 'keys.json': JSON.stringify({ keys: [own.publicKey] }) };
    const dropped = await page.evaluateHandle((named) => {
      const { DataTransfer, File } = globalThis as any;
      const transfer = new DataTransfer();
      for (const [name, text] of Object.entries(named)) transfer.items.add(new File([text], name));
      return transfer;
    }, texts);
    await page.dispatchEvent('.drop', 'drop', { dataTransfer: dropped });
    await page.getByText('Signature valid. Not compared with a log.').waitFor();
  });
});
