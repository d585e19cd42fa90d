import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { LossyLink } from '../helpers/lossy-link.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start({ settings: ['max_connections=40'] });
  await server.query(`CREATE ROLE agent LOGIN PASSWORD 's3cret'`);
});
afterAll(() => server.remove());

const variable = 'SERVICE_DATABASE_URL';
const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const isReady = (at: TestAgent, status: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), patient);

/** What a daemon has complained of, each sentence once. */
const complaintsOf = ({ log }: TestAgent): unknown[] => [
  ...new Set(
    log.filter(({ level }) => level !== 'info').flatMap(({ fields }) => Object(fields).error ?? []),
  ),
];

/** Sends a task and has it approved at another daemon, each again whenever that is refused; returns its text. */
async function payed(id: string, at: TestAgent, other: TestAgent): Promise<string> {
  const sent = vi.waitFor(async () => {
    const { status, body } = await at.send(id, pay);
    if (status === 200) return body;
    // It may have been begun all the same, and is reported where it is requested.
    const { body: task } = await at.get(`/tasks/${id}`);
    expect(task.status?.state).toBe('completed');
    return task;
  }, busy);
  const decided = vi.waitFor(async () => {
    const { status } = await other.decide(id, { decision: 'approve', approver: 'ann' });
    expect([200, 409]).toContain(status);
  }, busy);
  const [body] = await Promise.all([sent, decided]);
  return textOf({ body });
}

const busy = { timeout: 90_000, interval: 100 };

const unwritable =
  'the service cannot record events at the moment, so it accepts no work; try again in a moment; its log says what is wrong with the database';

async function aDatabase(): Promise<string> {
  const database = await server.createDatabase();
  await server.query(`ALTER DATABASE ${database} OWNER TO agent`);
  return database;
}

/** Starts a daemon over a database, at a port that leads to it. */
async function joined(database: string, port: number): Promise<TestAgent> {
  const settings = deferring({}, { on_restart: 'resume' });
  const folder = new AgentFolder({ ...settings, store: { kind: 'postgres', pool: 30 } });
  onTestFinished(() => folder.remove());
  const url = new URL(server.url(database, 'agent', 's3cret'));
  url.port = String(port);
  const agent = await launchAgent({}, { folder, env: { [variable]: url.href } });
  onTestFinished(() => agent.close());
  return agent;
}

describe('connections that are closed again and again', () => {
  it('lose no task, and run no tool twice', async () => {
    const { a, b, c, database } = await startReplicas(
      server,
      deferring({}, { on_restart: 'resume' }),
    );
    const all = [a, b, c];
    const ids = Array.from({ length: 60 }, (_, index) => `t-${index}`);
    const left = [...ids.entries()];
    const texts: string[] = [];
    let cuts = 0;
    const cutting = setInterval(() => {
      void server.cut(database, `application_name = 'holdpoint'`).then((cut) => {
        cuts += cut;
      });
    }, 300);
    onTestFinished(() => clearInterval(cutting));
    const lane = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, id] = next;
        const [at, other] = [all[index % 3], all[(index + 1) % 3]] as [TestAgent, TestAgent];
        texts.push(await payed(id, at, other));
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    clearInterval(cutting);
    expect([texts, cuts > 100]).toEqual([ids.map(() => 'paid'), true]);
    for (const at of all) await isReady(at, 200);
    const paid = all.flatMap(({ folder }) => folder.paid);
    expect([paid.length, new Set(paid).size]).toEqual([60, 60]);
    const log = await sharedLog(server, database);
    const count = (event: string) =>
      log
        .filter((line) => line.event === event)
        .map(({ task_id: id }) => String(id))
        .toSorted();
    expect(count('session_end')).toEqual(ids.toSorted());
  });
});

describe('a lock that another session holds for long', () => {
  it('has commits canceled in time and repeated later, and new work refused', async () => {
    const { a, b, c, database } = await startReplicas(server, deferring());
    const held = a.send('held', pay);
    await b.reached('held', 'deferred');
    const other = await server.connect(database);
    onTestFinished(() => other.end());
    await other.query('BEGIN; SELECT * FROM holdpoint.audit_head FOR UPDATE');
    const early = b.send('early', [{ say: 'done' }]);
    // A lock is waited for eight seconds.
    await isReady(b, 503);
    const refused = await b.send('late', pay);
    expect([refused.status, refused.body.error]).toEqual([503, unwritable]);
    expect(complaintsOf(b)).toEqual([
      `the database of ${variable} did not answer in time; try again once others no longer hold its tables`,
    ]);
    await other.query('ROLLBACK');
    await isReady(b, 200);
    expect(textOf(await early)).toBe('done');
    expect((await c.decide('held', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
    const ends = (await sharedLog(server, database)).filter(({ event }) => event === 'session_end');
    expect([ends.length, new Set(ends.map(({ task_id: id }) => id))]).toEqual([
      2,
      new Set(['early', 'held']),
    ]);
  });

  it('by a daemon that was cut off during a commit is released after five seconds', async () => {
    const database = await aDatabase();
    const link = await LossyLink.open(server.port);
    const [a, b] = [await joined(database, link.port), await joined(database, server.port)];
    link.stallCommit();
    const stalled = a.send('stalled', [{ say: 'a' }]);
    const stands = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND state = 'idle in transaction'`;
    await vi.waitFor(
      async () => expect(await server.query(stands, [database])).toHaveLength(1),
      patient,
    );
    const since = Date.now();
    expect(textOf(await b.send('other', [{ say: 'b' }]))).toBe('b');
    expect(Date.now() - since).toBeLessThan(8_000);
    expect(complaintsOf(b)).toEqual([]);
    // The one that was cut off makes its commit on another connection, once.
    expect(textOf(await stalled)).toBe('a');
    const ends = (await sharedLog(server, database)).filter(({ event }) => event === 'session_end');
    expect(ends.map(({ task_id: id }) => id)).toEqual(['other', 'stalled']);
  });
});

describe('a statement that takes too long', () => {
  it('is canceled after ten seconds, and succeeds once later', async () => {
    const { a, b, database } = await startReplicas(server, deferring());
    const owner = await server.connect(database);
    onTestFinished(() => owner.end());
    await owner.query(`
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
      CREATE TRIGGER slow BEFORE INSERT ON holdpoint.tasks FOR EACH ROW
        WHEN (NEW.id = 'slow') EXECUTE FUNCTION slow()`);
    const since = Date.now();
    const slow = a.send('slow', [{ say: 'done' }]);
    await isReady(a, 503);
    const given = Date.now() - since;
    expect([given > 9_500, given < 20_000]).toEqual([true, true]);
    await owner.query('DROP TRIGGER slow ON holdpoint.tasks');
    await isReady(a, 200);
    expect(textOf(await slow)).toBe('done');
    expect(textOf(await b.send('next', [{ say: 'b' }]))).toBe('b');
    const lines = await sharedLog(server, database);
    const ends = lines.filter(({ event }) => event === 'session_end');
    expect(ends.map(({ task_id: id }) => id)).toEqual(['slow', 'next']);
  });
});

describe('a server without a free connection', () => {
  const scarce = `the database of ${variable} has no connection left; raise max_connections of PostgreSQL, or lower store.pool`;
  const cut = `the database of ${variable} ended the connection; look at the log of PostgreSQL, then try again`;

  /** Takes connections until there are none for ordinary users. */
  async function takeAll(): Promise<pg.Client[]> {
    const taken: pg.Client[] = [];
    for (;;) {
      const client = new pg.Client(server.url('postgres', 'agent', 's3cret'));
      client.on('error', () => undefined);
      try {
        await client.connect();
        taken.push(client);
      } catch (error) {
        expect(error).toMatchObject({ code: '53300' });
        return taken;
      }
    }
  }

  it('lets no daemon start, and the log has the reason', async () => {
    const database = await aDatabase();
    const taken = await takeAll();
    const refused = await joined(database, server.port).then(
      () => 'it started',
      (error: unknown) => (error as Error).message,
    );
    for (const client of taken) await client.end();
    expect(refused).toBe(scarce);
  });

  it('lets a daemon continue with its connections, and recover without any', async () => {
    const database = await aDatabase();
    const agent = await joined(database, server.port);
    const held = agent.send('held', pay);
    await agent.reached('held', 'deferred');
    const taken = await takeAll();
    const slow = await server.connect(database);
    await slow.query('BEGIN; LOCK TABLE holdpoint.tasks');
    const reads = Array.from({ length: 60 }, () => agent.get('/tasks'));
    await vi.waitFor(() => expect(complaintsOf(agent)).toEqual([scarce]), patient);
    await slow.end();
    const statuses = (await Promise.all(reads)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await agent.get('/readyz')).status).toBe(200);
    expect(textOf(await agent.send('more', [{ say: 'done' }]))).toBe('done');
    // Others take what it loses.
    await server.query(`ALTER ROLE agent CONNECTION LIMIT ${taken.length}`);
    await server.cut(database);
    await isReady(agent, 503);
    expect((await agent.send('late', pay)).status).toBe(503);
    await vi.waitFor(
      () =>
        expect(agent.log.map(({ message }) => message)).toContain(
          'store: the database rejects writes',
        ),
      patient,
    );
    await server.query('ALTER ROLE agent CONNECTION LIMIT -1');
    for (const client of taken) await client.end();
    await isReady(agent, 200);
    expect((await agent.decide('held', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
    expect(agent.folder.paid).toHaveLength(1);
    // Whether the cut was met by a statement or only by the next connection is chance.
    expect(complaintsOf(agent).filter((said) => said !== cut)).toEqual([scarce]);
    expect(JSON.stringify(agent.log)).not.toContain('s3cret');
  });
});
