import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, it, onTestFinished, vi } from 'vitest';
import { needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type AgentProcess, runAgent } from '../helpers/agent-process.ts';
import { expectIntact } from '../helpers/test-agent.ts';

needsBwrap();

const example = join(import.meta.dirname, '../../examples/refunds');
const patient = { timeout: 60_000, interval: 200 };

/** The limit of the example, in cents. */
const most = 10_000;

interface Service {
  security: { defer: object };
}

/** The example, whose interrupted calls run again after a restart. */
function refundsFolder(): AgentFolder {
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  cpSync(example, folder.path, { recursive: true });
  const service = load(readFileSync(join(example, 'service.yaml'), 'utf8')) as Service;
  const { security } = service;
  const defer = { ...security.defer, on_restart: 'resume' };
  const settings = { ...service, security: { ...security, defer } };
  writeFileSync(join(folder.path, 'service.yaml'), JSON.stringify(settings));
  return folder;
}

/** A comma outside of quotes. */
const betweenValues = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;

/** The orders of the example, by their columns. */
function ordersIn({ path }: AgentFolder): Record<string, string>[] {
  const [names = '', ...lines] = readFileSync(join(path, 'data/orders.csv'), 'utf8')
    .trimEnd()
    .split('\n');
  const columns = names.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(betweenValues).map((value, n) => [columns[n] ?? '', value])),
  );
}

const cents = (amount: unknown) => Math.round(Number(amount) * 100);

/** What the scripts paid back of all orders, in cents. */
function paidIn(folder: AgentFolder): number {
  return ordersIn(folder).reduce((sum, { refund_amount: paid }) => sum + cents(paid), 0);
}

/** What the limit has of calls that ran, or may have run, in cents. */
async function countedAt(agent: AgentProcess) {
  const [limit] = (await agent.get('/limits')).body.limits;
  return { used: cents(limit.used), reserved: cents(limit.reserved) };
}

it('64 callers at once are paid no more than the limit, though the daemon is killed three times', async () => {
  const folder = refundsFolder();
  const orders = ordersIn(folder).filter(
    ({ status = '', amount, currency }) =>
      ['delivered', 'shipped'].includes(status) && cents(amount) > 2_000 && currency === 'EUR',
  );
  const before = paidIn(folder);
  let asked = 0;
  const ask = (agent: AgentProcess) => {
    const { order_id } = orders[asked % orders.length] ?? {};
    asked += 1;
    const args = { order_id, amount: 3 + (asked % 17) + 0.35, currency: 'EUR' };
    agent
      .send(`t${asked}`, [{ tool: 'issue_refund', args }, { say: '{result}' }])
      .catch(() => null);
  };
  let agent = await runAgent(folder);
  for (let kill = 0; kill < 3; kill += 1) {
    const earlier = paidIn(folder);
    for (let caller = 0; caller < 64; caller += 1) ask(agent);
    await vi.waitUntil(() => paidIn(folder) > earlier, { ...patient, interval: 5 });
    await agent.kill();
    // A script that was killed leaves its lock behind.
    rmSync(join(folder.path, 'data/orders.csv.lock'), { force: true });
    agent = await runAgent(folder);
  }
  await vi.waitUntil(async () => (await countedAt(agent)).reserved === 0, patient);
  const { used } = await countedAt(agent);
  const paid = paidIn(folder) - before;
  expect([paid <= used, used <= most]).toEqual([true, true]);
  // The limit holds and is used, so nothing is lost at a kill.
  expect(paid).toBeGreaterThan(most / 2);
  await agent.kill();
  await expectIntact(agent.auditPath);
}, 120_000);
