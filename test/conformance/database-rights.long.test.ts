import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;
const password = 's3cret';

beforeAll(async () => {
  server = await PostgresServer.start();
  await server.query(`CREATE ROLE agent LOGIN PASSWORD '${password}'`);
  await server.query(`CREATE ROLE nobody NOLOGIN PASSWORD '${password}'`);
});
afterAll(() => server.remove());

/** Makes a database in which users may do nothing but connect, and what statements give them besides. */
async function databaseWith(...statements: string[]): Promise<string> {
  const database = await server.createDatabase();
  await server.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
  await server.query(`GRANT CONNECT ON DATABASE ${database} TO agent`);
  for (const statement of statements) await server.query(statement, [], database);
  return database;
}

/** Why a daemon does not start. */
async function refusalOf(url: string): Promise<string> {
  const folder = new AgentFolder({ store: { kind: 'postgres' } });
  onTestFinished(() => folder.remove());
  const started = launchAgent({}, { folder, env: { SERVICE_DATABASE_URL: url } });
  const said = await started.then(
    (agent) => agent.close().then(() => 'it started'),
    (error: unknown) => (error as Error).message,
  );
  expect(said).not.toContain(password);
  return said;
}

const variable = 'SERVICE_DATABASE_URL';
const words = {
  rights: `the user of ${variable} lacks rights on the schema holdpoint; let that user create schemas in the database, or make it the owner of holdpoint and holdpoint_jobs`,
  connect: `the user of ${variable} may not connect to the database there; grant it CONNECT, or correct the database in ${variable}`,
  missing: `there is no database of the name that ${variable} has; create it on the server, or correct the name in ${variable}`,
  signIn: `the database of ${variable} refuses the user and password in it; correct them in ${variable} and restart the daemon, or in the file of PGPASSFILE, which is read with each connection`,
};

describe('a daemon that lacks a right does not start, and names it:', () => {
  it.each([
    ['to create schemas', [], words.rights],
    [
      'to the existing schema',
      ['CREATE SCHEMA holdpoint', 'CREATE SCHEMA holdpoint_jobs'],
      words.rights,
    ],
    [
      'to create the schema of the jobs',
      ['CREATE SCHEMA holdpoint AUTHORIZATION agent'],
      words.rights,
    ],
    [
      'to the tables of another user',
      [
        'CREATE SCHEMA holdpoint',
        'GRANT ALL ON SCHEMA holdpoint TO agent',
        'CREATE TABLE holdpoint.store_info (one INTEGER PRIMARY KEY, version INTEGER, agent_id TEXT)',
      ],
      words.rights,
    ],
    ['to connect', ['REVOKE CONNECT ON DATABASE :database FROM agent'], words.connect],
  ])('%s', async (_, statements, sentence) => {
    const database = await databaseWith();
    for (const statement of statements) {
      await server.query(statement.replace(':database', database), [], database);
    }
    expect(await refusalOf(server.url(database, 'agent', password))).toBe(sentence);
  });

  it('to sign in, or with a wrong password', async () => {
    const database = await databaseWith();
    for (const [user, secret] of [
      ['agent', 'wrong-s3cret'],
      ['nobody', password],
      ['nowhere', password],
      ['agent', undefined],
    ] as const) {
      expect(await refusalOf(server.url(database, user, secret))).toBe(words.signIn);
    }
  });

  it('to a missing database', async () => {
    expect(await refusalOf(server.url('nowhere', 'agent', password))).toBe(words.missing);
  });
});

describe('a schema', () => {
  it.each(['user', 'select', 'default', 'table', 'public', '_', 'order'])(
    'can be named %s',
    async (schema) => {
      const { a, b, database } = await startReplicas(server, {
        ...deferring(),
        store: { schema },
      });
      const held = a.send('t1', [{ tool: 'pay' }, { say: 'paid' }]);
      await b.reached('t1', 'deferred');
      expect((await b.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
      expect(textOf(await held)).toBe('paid');
      const tables = `SELECT DISTINCT schemaname AS schema FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`;
      expect(await server.query(tables, [], database)).toEqual(
        [schema, `${schema}_jobs`].toSorted().map((name) => ({ schema: name })),
      );
      expect((await sharedLog(server, database, `"${schema}"`)).length).toBeGreaterThan(0);
    },
  );
});
