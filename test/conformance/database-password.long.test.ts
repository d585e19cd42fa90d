import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;
let roles = 0;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const variable = 'SERVICE_DATABASE_URL';
const refused = `the database of ${variable} refuses the user and password in it; correct them in ${variable} and restart the daemon, or in the file of PGPASSFILE, which is read with each connection`;

const isReady = (at: TestAgent, status: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), patient);

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** Makes a user with a password and a database of its own. */
async function aUser(): Promise<{ role: string; database: string }> {
  roles += 1;
  const role = `agent_${roles}`;
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'first-s3cret'`);
  const database = await server.createDatabase();
  await server.query(`ALTER DATABASE ${database} OWNER TO ${role}`);
  return { role, database };
}

/** Starts a daemon in a new folder, or in that of the one before. */
async function started(url: string, folder?: AgentFolder): Promise<TestAgent> {
  const agent = await launchAgent(
    {},
    {
      folder:
        folder ??
        new AgentFolder({
          ...deferring({}, { on_restart: 'resume' }),
          store: { kind: 'postgres', pool: 50 },
        }),
      env: { [variable]: url },
    },
  );
  onTestFinished(() => agent.close());
  return agent;
}

/** What a daemon has complained of, each sentence once. */
const complaintsOf = ({ log }: TestAgent): unknown[] => [
  ...new Set(
    log.filter(({ level }) => level !== 'info').flatMap(({ fields }) => Object(fields).error ?? []),
  ),
];

describe('a changed password', () => {
  it('keeps open connections, and is read from its file', async () => {
    const { role, database } = await aUser();
    const file = join(mkdtempSync(join(tmpdir(), 'holdpoint-passwords-')), 'pgpass');
    onTestFinished(() => rmSync(join(file, '..'), { recursive: true }));
    const keep = (password: string) =>
      writeFileSync(file, `127.0.0.1:*:*:${role}:${password}\n`, { mode: 0o600 });
    keep('first-s3cret');
    vi.stubEnv('PGPASSFILE', file);
    onTestFinished(() => void vi.unstubAllEnvs());
    const agents = [
      await started(server.url(database, role)),
      await started(server.url(database, role)),
    ] as const;
    const [a, b] = agents;
    const held = a.send('held', pay);
    await b.reached('held', 'deferred');
    await server.query(`ALTER ROLE ${role} PASSWORD 'second-s3cret'`);
    // More at once than there are connections, each of which takes its time.
    const slow = await server.connect(database);
    await slow.query('BEGIN; LOCK TABLE holdpoint.tasks');
    const reads = Array.from({ length: 60 }, () => a.get('/tasks'));
    await vi.waitFor(() => expect(complaintsOf(a)).toEqual([refused]), patient);
    await slow.end();
    const answers = await Promise.all(reads);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await a.send('still', [{ say: 'here' }])).status).toBe(200);
    expect((await a.get('/readyz')).status).toBe(200);
    await server.cut(database);
    for (const at of agents) {
      await isReady(at, 503);
      expect((await at.send('late', pay)).status).toBe(503);
      await vi.waitFor(() => expect(complaintsOf(at)).toContain(refused), patient);
    }
    const decided = b.decide('held', { decision: 'approve', approver: 'ann' });
    keep('second-s3cret');
    for (const at of agents) await isReady(at, 200);
    await decided;
    await b.decide('held', { decision: 'approve', approver: 'ann' });
    expect(textOf(await held)).toBe('paid');
    expect(agents.flatMap(({ folder }) => folder.paid)).toHaveLength(1);
    expect(JSON.stringify(agents.map(({ log }) => log))).not.toMatch(/s3cret/);
    expect((await sharedLog(server, database)).length).toBeGreaterThan(0);
  });

  it('is in the variable of a restarted daemon, and waiting calls continue', async () => {
    const { role, database } = await aUser();
    const folder = new AgentFolder({
      ...deferring({}, { on_restart: 'resume' }),
      store: { kind: 'postgres', pool: 50 },
    });
    const before = await started(server.url(database, role, 'first-s3cret'), folder);
    const held = before.send('held', pay);
    await before.reached('held', 'deferred');
    await server.query(`ALTER ROLE ${role} PASSWORD 'second-s3cret'`);
    await server.cut(database);
    await isReady(before, 503);
    await vi.waitFor(() => expect(complaintsOf(before)).toContain(refused), patient);
    await before.stop();
    expect([(await held).status, (await held).body.task_id]).toEqual([503, 'held']);
    const after = await started(server.url(database, role, 'second-s3cret'), folder);
    expect((await after.decide('held', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf({ body: await after.reached('held', 'completed') })).toBe('paid');
    expect(folder.paid).toHaveLength(1);
    expect(JSON.stringify([before.log, after.log])).not.toMatch(/s3cret/);
  });
});
