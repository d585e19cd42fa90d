import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { authorities, databaseCertificates } from '../helpers/database-certificates.ts';
import { LossyLink } from '../helpers/lossy-link.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { useCertificate } from '../helpers/server-certificate.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, reached, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: PostgresServer;
const files = mkdtempSync(join(tmpdir(), 'holdpoint-silence-'));

beforeAll(async () => {
  server = await PostgresServer.start();
  await useCertificate(server, databaseCertificates.here);
  writeFileSync(join(files, 'ca.pem'), authorities.ours);
});
afterAll(async () => {
  await server.remove();
  rmSync(files, { recursive: true });
});

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

/** Starts a daemon whose way to the database is a link, and one that goes there straight. */
async function startTwo(query = '') {
  const database = await server.createDatabase();
  const link = await LossyLink.open(server.port);
  const start = async (port: number): Promise<TestAgent> => {
    const settings = deferring({}, { on_restart: 'resume' });
    const folder = new AgentFolder({ ...settings, store: { kind: 'postgres' } });
    const url = new URL(server.url(database) + query);
    url.port = String(port);
    const agent = await launchAgent({}, { folder, env: { SERVICE_DATABASE_URL: url.href } });
    onTestFinished(() => agent.close());
    return agent;
  };
  return { database, link, a: await start(link.port), b: await start(server.port) };
}

const unwritable =
  'the service cannot record events at the moment, so it accepts no work; try again in a moment; its log says what is wrong with the database';
const silent =
  'the database of SERVICE_DATABASE_URL cannot be reached, since it does not answer; check the way there, or correct host and port in SERVICE_DATABASE_URL';

/** What a busy machine may take besides, in milliseconds. */
const slack = 10_000;

const within = (timeout: number) => ({ timeout, interval: 20 });

const readyAs = (at: TestAgent, status: number, timeout: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), within(timeout));

describe.each([
  ['there', 'there', ''],
  ['back', 'back', ''],
  [
    'in both directions, over TLS',
    'both',
    `?sslmode=verify-full&sslrootcert=${join(files, 'ca.pem')}`,
  ],
] as const)('a connection to the database that becomes silent (%s)', (_, way, query) => {
  it('is detected; others take over the work, and nothing old is committed', async () => {
    const { database, link, a, b } = await startTwo(query);
    const working = a.send('working', hold);
    const held = a.send('held', pay);
    await b.reached('held', 'deferred');
    await vi.waitFor(() => expect(a.folder.held).toHaveLength(1), patient);
    const since = Date.now();
    link.fallSilent(way);
    const early = a.send('early', pay);
    // The other one works on meanwhile, however the first was cut off.
    const others = (async () => {
      const waits: number[] = [];
      for (let index = 0; index < 20; index += 1) {
        const began = Date.now();
        const { status } = await b.send(`other-${index}`, [{ say: 'done' }]);
        expect(status).toBe(200);
        waits.push(Date.now() - began);
      }
      return Math.max(...waits);
    })();
    // A look every five seconds, and five more for the answer that does not come.
    await readyAs(a, 503, 10_000 + slack);
    expect(await others).toBeLessThan(5_000);
    expect((await early).status).toBe(503);
    const refused = await a.send('late', pay);
    expect([refused.status, refused.body.error]).toEqual([503, unwritable]);
    // A call that waits is decided at the other one, and runs there.
    expect((await b.decide('held', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf({ body: await b.reached('held', 'completed') })).toBe('paid');
    const told = a.log.filter(({ level }) => level !== 'info').map(({ fields }) => fields);
    expect(told).toContainEqual({ error: silent });
    const text = 'interrupted by service restart: hold had started and its outcome is unknown';
    const taken = await vi.waitFor(() => reached(b, 'working', 'failed'), within(60_000));
    expect(Date.now() - since).toBeLessThan(25_000 + slack);
    expect(textOf({ body: taken })).toBe(text);
    await a.folder.openGate('7');
    link.recover();
    await readyAs(a, 200, 10_000 + slack);
    // A caller that was held there receives the other daemon's result.
    expect([textOf(await working), textOf(await held)]).toEqual([text, 'paid']);
    expect([a, b].map(({ folder }) => folder.held.length)).toEqual([1, 0]);
    expect([a, b].map(({ folder }) => folder.paid.length)).toEqual([0, 1]);
    const log = await sharedLog(server, database);
    const ends = log.filter(({ event }) => event === 'session_end').map(({ task_id: id }) => id);
    const own = ends.filter((id) => !id?.startsWith('other-'));
    expect([own.length, new Set(own)]).toEqual([2, new Set(['held', 'working'])]);
  });
});
