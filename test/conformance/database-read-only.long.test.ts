import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
  await server.query(`CREATE ROLE agent LOGIN PASSWORD 's3cret'`);
});
afterAll(() => server.remove());

const variable = 'SERVICE_DATABASE_URL';
const readOnly = `the database of ${variable} is read-only, for example a standby; name the primary in ${variable}, or set default_transaction_read_only = off`;
const unwritable =
  'the service cannot record events at the moment, so it accepts no work; try again in a moment; its log says what is wrong with the database';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

async function started(url: string): Promise<TestAgent> {
  const folder = new AgentFolder({ ...deferring(), store: { kind: 'postgres' } });
  onTestFinished(() => folder.remove());
  const agent = await launchAgent({}, { folder, env: { [variable]: url } });
  onTestFinished(() => agent.close());
  return agent;
}

const refusalOf = (url: string): Promise<string> =>
  started(url).then(
    () => 'it started',
    (error: unknown) => (error as Error).message,
  );

const isReady = (at: TestAgent, status: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), patient);

/** What a daemon has complained of, each sentence once. */
const complaintsOf = ({ log }: TestAgent): unknown[] => [
  ...new Set(
    log.filter(({ level }) => level !== 'info').flatMap(({ fields }) => Object(fields).error ?? []),
  ),
];

describe('a daemon does not start over a read-only database, and logs the reason:', () => {
  it('a standby, with or without the tables', async () => {
    const first = await PostgresServer.start();
    onTestFinished(() => first.remove());
    const empty = await first.createDatabase();
    const used = await first.createDatabase();
    await (await started(first.url(used))).stop();
    const standby = await first.standby();
    onTestFinished(() => standby.remove());
    for (const database of [empty, used]) {
      expect(await refusalOf(standby.url(database))).toBe(readOnly);
    }
  });

  it('a read-only setting, with or without the tables', async () => {
    const empty = await server.createDatabase();
    const used = await server.createDatabase();
    await (await started(server.url(used))).stop();
    for (const database of [empty, used]) {
      await server.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
      expect(await refusalOf(server.url(database))).toBe(readOnly);
    }
  });
});

/** Expects the tasks to have been gone through once, and the log to be whole. */
async function expectWhole(database: string, agent: TestAgent): Promise<void> {
  const lines = await sharedLog(server, database);
  const ends = lines.filter(({ event }) => event === 'session_end').map(({ task_id: id }) => id);
  expect(new Set(ends)).toEqual(new Set(['after', 'held', 'working']));
  expect(ends).toHaveLength(3);
  expect([agent.folder.paid.length, agent.folder.held.length]).toEqual([1, 1]);
}

describe('a database that becomes read-only', () => {
  it.each([
    [
      'as it was set to read only',
      () => server.query('ALTER SYSTEM SET default_transaction_read_only = on'),
      () => server.query('ALTER SYSTEM RESET default_transaction_read_only'),
      readOnly,
    ],
    [
      'as rights were taken away',
      (database: string) =>
        server.query(
          'REVOKE INSERT, UPDATE ON holdpoint.tasks, holdpoint.replicas FROM agent',
          [],
          database,
        ),
      (database: string) =>
        server.query(
          'GRANT INSERT, UPDATE ON holdpoint.tasks, holdpoint.replicas TO agent',
          [],
          database,
        ),
      `the user of ${variable} lacks rights on the schema holdpoint; let that user create schemas in the database, or make it the owner of holdpoint and holdpoint_jobs`,
    ],
    [
      'as a table was renamed',
      (database: string) =>
        server.query('ALTER TABLE holdpoint.replicas RENAME TO others', [], database),
      (database: string) =>
        server.query('ALTER TABLE holdpoint.others RENAME TO replicas', [], database),
      `the database of ${variable} cannot be used (42P01 relation "replicas" does not exist); look at the log of PostgreSQL, then try again`,
    ],
  ])('%s is detected without a commit, and loses nothing', async (_, spoil, fix, sentence) => {
    const database = await server.createDatabase();
    await server.query(`ALTER DATABASE ${database} OWNER TO agent`);
    const agent = await started(server.url(database, 'agent', 's3cret'));
    const held = agent.send('held', pay);
    const working = agent.send('working', hold);
    await agent.reached('held', 'deferred');
    await vi.waitFor(() => expect(agent.folder.held).toHaveLength(1), patient);
    await spoil(database);
    await server.query('SELECT pg_reload_conf()');
    await isReady(agent, 503);
    const before = await sessions(database);
    const refused = await agent.send('late', pay);
    expect([refused.status, refused.body.error]).toEqual([503, unwritable]);
    expect((await agent.get('/healthz')).status).toBe(200);
    expect((await agent.get('/tasks/held')).body.status.state).toBe('deferred');
    const decided = agent.decide('held', { decision: 'approve', approver: 'ann' });
    await agent.folder.openGate('7');
    await vi.waitFor(() => expect(complaintsOf(agent)).toContain(sentence), patient);
    await vi.waitFor(
      () => expect(agent.log.map(({ message }) => message)).toContain(waiting),
      patient,
    );
    // It looks again now and then, and no more often.
    expect((await sessions(database)) - before).toBeLessThan(40);
    await fix(database);
    await server.query('SELECT pg_reload_conf()');
    await isReady(agent, 200);
    expect((await decided).status).toBe(200);
    expect([textOf(await held), textOf(await working)]).toEqual(['paid', 'got 7']);
    expect((await agent.send('after', [{ say: 'done' }])).status).toBe(200);
    expect(JSON.stringify(agent.log)).not.toContain('s3cret');
    await expectWhole(database, agent);
  });
});

const waiting = 'store: a commit waits for the database';

/** How many connections there have been to a database. */
async function sessions(database: string): Promise<number> {
  const sql = 'SELECT sessions::int FROM pg_stat_database WHERE datname = $1';
  return Number((await server.query(sql, [database]))[0]?.['sessions']);
}
