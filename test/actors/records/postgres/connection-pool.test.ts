import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { PostgresDatabase } from '../../../../src/actors/records/postgres/postgres-database.ts';
import { UnreachableError } from '../../../../src/actors/records/store/task-store.ts';
import { patient } from '../../../helpers/patient.ts';
import { type PostgresServer, sharedPostgres } from '../../../helpers/postgres-server.ts';

let server: PostgresServer;
let name: string;

beforeEach(async () => {
  server = await sharedPostgres();
  name = await server.createDatabase();
  onTestFinished(() => server.dropDatabase(name));
});

/** Opens a database; what it says of its connections is kept. */
async function opened(pool: number, url = server.url(name)) {
  const told: [string, object, string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void told.push([level, fields, message]);
  const database = await PostgresDatabase.load({
    ...{ url: () => url, variable: 'REFUNDS_URL', schema: 'public', pool },
    log: { info: at('info'), warn: at('warn'), error: at('error') },
  });
  onTestFinished(() => database.close());
  return { database, told };
}

it('a transaction that failed in one statement blocks no other', async () => {
  const { database } = await opened(1);
  await expect(database.executeSql('BEGIN; SELECT 1/0; COMMIT')).rejects.toThrow('zero');
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('a blocked statement closes no connection', async () => {
  const { database } = await opened(1);
  const pid = () => database.query('SELECT pg_backend_pid() AS pid');
  const before = await pid();
  const busy = database.query(`DO $$ BEGIN RAISE 'busy' USING ERRCODE = '55P03'; END $$`);
  await expect(busy).rejects.toThrow(UnreachableError);
  const failing = database.transaction((client) => client.query('SELECT nothing'));
  await expect(failing).rejects.toThrow('nothing');
  expect(await pid()).toEqual(before);
});

it('a request waits for open connections while no further one can open', async () => {
  const role = name.replace('test', 'limited');
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x' CONNECTION LIMIT 2`);
  onTestFinished(() => server.query(`DROP ROLE ${role}`).then(() => undefined));
  const { database, told } = await opened(10, server.url(name, role, 'x'));
  const slow = () => database.query('SELECT pg_sleep(0.01), pg_backend_pid() AS pid');
  await Promise.all([slow(), slow()]);
  const rows = (await Promise.all(Array.from({ length: 100 }, slow))).flat();
  expect([rows.length, new Set(rows.map(({ pid }) => pid)).size]).toEqual([100, 2]);
  const scarce = 'store: no further database connection can be opened; existing ones remain in use';
  const reason =
    'the database of REFUNDS_URL has no connection left; raise max_connections of PostgreSQL, or lower store.pool';
  expect(told).toEqual([['warn', { error: reason }, scarce]]);
  await server.query(`ALTER ROLE ${role} CONNECTION LIMIT 20`);
  await vi.waitFor(async () => {
    const more = (await Promise.all(Array.from({ length: 100 }, slow))).flat();
    expect(new Set(more.map(({ pid }) => pid)).size).toBe(10);
  }, patient);
  expect(told.at(-1)).toEqual(['info', {}, 'store: connections to the database can be made again']);
});
