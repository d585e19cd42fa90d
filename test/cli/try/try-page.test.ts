import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { verifyFiles } from '../../../src/actors/records/records.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { cleanUp, type Running, temporaryFolder } from '../holdpoint.ts';
import { onTerminal } from '../terminal.ts';

const patience = { timeout: 90_000, interval: 50 };

beforeAll(buildPage, 300_000);
afterAll(cleanUp);

interface Tried extends Running {
  said: () => string;
  page: AgentClient;
  address: URL;
}

/** Starts `try` on a terminal and waits for the address of its page. */
async function tryOnTerminal(...flags: string[]): Promise<Tried> {
  const started = onTerminal(['try', '--scripted', ...flags]);
  let text = '';
  started.child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const said = (): string => stripVTControlCharacters(text);
  const found = /on a page: (http:\S+)/;
  await vi.waitUntil(() => found.test(said()), patience);
  const address = new URL(found.exec(said())![1]!);
  const token = address.hash.replace('#token=', '');
  const page = new AgentClient(`http://127.0.0.1:${address.port}`, token);
  return { ...started, said, page, address };
}

async function heldCall({ page }: Tried) {
  const found = await vi.waitUntil(async () => {
    const { deferrals } = (await page.get('/api/deferrals')).body;
    return deferrals.length > 0 ? deferrals[0] : null;
  }, patience);
  return found as { id: string; task_id: string; tool: string; args_sha256: string };
}

function decide(
  { page }: Tried,
  { id, task_id, args_sha256 }: Awaited<ReturnType<typeof heldCall>>,
) {
  const body = { decision: 'approve', deferral_id: id, args_sha256 };
  return page.post(`/api/agents/refunds/tasks/${task_id}/decisions`, body);
}

it('try shows its agent on a page, where a held call is decided once and the terminal names the person', async () => {
  const dir = join(await temporaryFolder(), 'kept');
  const tried = await tryOnTerminal('--keep', dir);
  const stranger = new AgentClient(tried.page.url, null);
  expect((await stranger.get('/api/agents')).status).toBe(401);
  expect((await tried.page.get('/api/agents')).body).toMatchObject([
    { id: 'refunds', status: 'running', in_dashboard: true },
  ]);
  for (const order of ['stop', 'restart']) {
    expect(await tried.page.post(`/api/agents/refunds/${order}`, {})).toMatchObject({
      status: 409,
      body: {
        error:
          'the agent refunds runs in the program that serves this page and ends with it; end that program in its terminal',
      },
    });
  }
  tried.child.stdin?.write('refund A-1042\n');
  const held = await heldCall(tried);
  expect((await decide(tried, held)).status).toBe(200);
  const second = await decide(tried, held);
  expect([second.status, second.body.approver]).toEqual([
    409,
    expect.stringMatching(/ on the dashboard$/),
  ]);
  await vi.waitUntil(() => tried.said().includes('agent> Order A-1042 is refunded.'), patience);
  expect(tried.said()).toContain(
    `Decided elsewhere: issue_refund was released by ${second.body.approver}`,
  );
  const audit = await tried.page.get('/api/agents/refunds/audit?limit=100');
  expect(audit.body.verified).toMatchObject({ ok: true });

  tried.child.stdin?.write('exit\n');
  expect((await tried.ended).code).toBe(0);
  await expect(tried.page.get('/api/agents')).rejects.toThrow();
  const log = join(dir, '.service/audit.ndjson');
  expect(await verifyFiles([log])).toMatchObject({ ok: true });
  expect(readFileSync(log, 'utf8').match(/"event":"task_deferred_decision"/g)).toHaveLength(1);
});

it('try uses another port where its own is taken, and exits on Ctrl-C', async () => {
  // A current holder counts as well.
  const holder = createServer().on('error', () => undefined);
  await new Promise<void>((resolve) => {
    holder.once('error', () => resolve());
    holder.listen(4200, '127.0.0.1', resolve);
  });
  const tried = await tryOnTerminal();
  expect(tried.address.port).not.toBe('4200');
  expect(tried.said()).toContain('(port 4200 is taken)');
  tried.child.stdin?.write('\u0003');
  expect((await tried.ended).code).toBe(130);
  await expect(tried.page.get('/api/agents')).rejects.toThrow();
  await new Promise((resolve) => holder.close(resolve));
});
