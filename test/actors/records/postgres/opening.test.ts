import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tablesIdentity } from '../../../../src/actors/records/postgres/known-schema.ts';
import { openSharedStore } from '../../../../src/actors/records/postgres/open-shared-store.ts';
import { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { patient } from '../../../helpers/patient.ts';
import { PostgresServer, sharedPostgres } from '../../../helpers/postgres-server.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

let server: PostgresServer;
let place: PostgresPlace;

beforeEach(async () => {
  server = await sharedPostgres();
  place = await postgresPlace();
});

/** Makes a user who may sign in with a password, until the test ends. */
async function aRole(password: string): Promise<string> {
  const role = place.database.replace('test', 'role');
  await place.execute(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  onTestFinished(async () => {
    await server.query(`DROP OWNED BY ${role} CASCADE`, [], place.database).catch(() => undefined);
    await server.dropDatabase(place.database);
    await server.query(`DROP ROLE ${role}`);
  });
  return role;
}

const refusal = (opened: Promise<unknown>): Promise<unknown> =>
  opened.then(
    () => null,
    (error: unknown) => error,
  );

describe('opening a store', () => {
  it('creates its tables once for several daemons', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => place.open()));
    expect(stores.filter(({ isFirst }) => isFirst)).toHaveLength(1);
    expect(new Set(stores.map(({ number }) => number)).size).toBe(6);
    await stores[5]?.save('t-1', () => aWrite(aTask()));
    expect(await stores[0]?.rows.find('t-1')).toEqual(aTask());
  });

  it('creates the tables of tasks and engine once for several daemons', async () => {
    for (const schema of Array.from({ length: 5 }, (_, time) => `time_${time}`)) {
      const opened = await Promise.allSettled(
        Array.from({ length: 6 }, () =>
          openSharedStore({
            ...{ url: () => server.url(place.database), schema, pool: 4, agentId: 'refunds' },
            ...{ audit: { chain: true, signer: null }, log: silent },
          }),
        ),
      );
      for (const one of opened) {
        if (one.status === 'rejected') continue;
        await one.value.engine.stop();
        await one.value.store.close();
      }
      expect(opened.filter(({ status }) => status === 'rejected')).toEqual([]);
    }
  });

  it('refuses tables of a later version', async () => {
    await (await place.open()).close();
    await place.execute('UPDATE store_info SET version = 99, oldest_reader = 99');
    const error = await refusal(place.open());
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toMatch(
      /schema holdpoint has store version 99, this version reads \d+; start the version that wrote it/,
    );
    expect(await place.execute('SELECT version FROM store_info')).toEqual([{ version: 99 }]);
  });

  it('refuses tables of a build before the first version, and keeps them unchanged', async () => {
    await place.execute('CREATE SCHEMA holdpoint');
    await place.execute(
      'CREATE TABLE store_info (one INTEGER PRIMARY KEY, version INTEGER, agent_id TEXT)',
    );
    await place.execute("INSERT INTO store_info VALUES (1, 1, 'refunds')");
    const error = await refusal(place.open());
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toBe(
      'the schema holdpoint holds tables of a build before the first version, which this version cannot read; start the build that wrote them, or set store.schema to a new name',
    );
    expect(
      await place.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'holdpoint'"),
    ).toEqual([{ tablename: 'store_info' }]);
  });

  it('uses readable tables of a later version, and keeps their version', async () => {
    await (await place.open()).close();
    await place.execute(`UPDATE store_info SET version = 99, tables = ${tablesIdentity}`);
    await (await place.open()).close();
    expect(await place.execute('SELECT version FROM store_info')).toEqual([{ version: 99 }]);
  });

  it('refuses the tables of another agent, and names it', async () => {
    await (await place.open()).close();
    const error = await refusal(place.open({ agentId: 'returns' }));
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toMatch(/refunds.*returns.*store\.schema/);
    await (await place.open({ agentId: 'returns', schema: 'returns' })).close();
  });

  it('separates agents in schemas of one database', async () => {
    const one = await place.open();
    const other = await place.open({ agentId: 'returns', schema: 'returns' });
    expect([one.isFirst, other.isFirst]).toEqual([true, true]);
    await one.save('t-1', () => aWrite(aTask()));
    expect([await other.rows.find('t-1'), await other.deadReplicas()]).toEqual([undefined, []]);
    expect([await one.lock('engine'), await other.lock('engine')]).not.toContain(null);
  });

  it('works in an existing schema for a user who may not create one', async () => {
    const role = await aRole('s3cret');
    await place.execute(`CREATE SCHEMA holdpoint AUTHORIZATION ${role}`);
    await server.query(`REVOKE CREATE ON DATABASE ${place.database} FROM PUBLIC`);
    const store = await place.open({ url: () => server.url(place.database, role, 's3cret') });
    await store.save('t-1', () => aWrite(aTask()));
    expect(await store.rows.find('t-1')).toEqual(aTask());
  });

  it('reports the obstacle, without a password', async () => {
    const role = await aRole('s3cret');
    await place.execute(`REVOKE CREATE ON DATABASE ${place.database} FROM PUBLIC`);
    const unreachable = await PostgresServer.start();
    await unreachable.remove();
    const urls = {
      wrong: server.url(place.database, role, 'hunter2-wrong'),
      powerless: server.url(place.database, role, 's3cret'),
      missing: server.url('nowhere', role, 's3cret'),
      unreachable: unreachable.url('x', 'y', 'hunter2-unreachable'),
      nonsense: 'postgresql://user:hunter2@[nonsense/x',
    };
    for (const url of Object.values(urls)) {
      const error = await refusal(place.open({ url: () => url }));
      expect(error, url).toBeInstanceOf(StoreError);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/hunter2|s3cret/);
    }
    const left = () =>
      server.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [place.database]);
    await vi.waitFor(async () => expect(await left()).toEqual([]), patient);
  });

  it('leaves no connection when it fails at its last step', async () => {
    await (await place.open()).close();
    await place.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE ''no''; END'`);
    await place.execute(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON replicas
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
    expect(await refusal(place.open())).toBeInstanceOf(StoreError);
    const left = () =>
      server.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [place.database]);
    await vi.waitFor(async () => expect(await left()).toEqual([]), patient);
  });

  it('fails on a standby server', async () => {
    const first = await PostgresServer.start();
    onTestFinished(() => first.remove());
    const standby = await first.standby();
    onTestFinished(() => standby.remove());
    const options = {
      ...{ schema: 'holdpoint', pool: 2, agentId: 'refunds', audit: { chain: true, signer: null } },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    };
    const opened = PostgresStore.open({ ...options, url: () => standby.url() });
    expect(await refusal(opened)).toBeInstanceOf(StoreError);
  });
});

describe('a changed password', () => {
  it('is used, and nothing is lost', async () => {
    const role = await aRole('before');
    await place.execute(`GRANT CREATE ON DATABASE ${place.database} TO ${role}`);
    let password = 'before';
    const store = await place.open({ url: () => server.url(place.database, role, password) });
    await store.save('t-1', () => aWrite(aTask()));
    await place.execute(`ALTER ROLE ${role} PASSWORD 'after'`);
    await server.cut(place.database, `usename = '${role}'`);
    await vi.waitFor(() => expect(store.isWritable()).toBe(false), patient);
    const saved = store.save('t-1', () => aWrite(aTask({ revision: 2 })));
    expect(await store.flush()).toMatchObject({ code: 'unrecorded' });
    password = 'after';
    await saved;
    await vi.waitFor(() => expect(store.isWritable()).toBe(true), patient);
    expect((await place.lines()).map(({ seq }) => seq)).toEqual([1, 2]);
  });
});

describe('a promoted standby', () => {
  it('continues the tasks, and a demoted server gets no write', async () => {
    const first = await PostgresServer.start();
    onTestFinished(() => first.remove());
    const there = await postgresPlace(first);
    let current = first;
    const store = await there.open({ url: () => current.url(there.database) });
    await store.save('t-1', () => aWrite(aTask()));
    const standby = await first.standby();
    onTestFinished(() => standby.remove());
    await store.save('t-1', () => aWrite(aTask({ revision: 2 })));
    const arrived = () => standby.query('SELECT revision FROM tasks', [], there.database);
    await vi.waitFor(async () => expect(await arrived()).toEqual([{ revision: '2' }]), patient);
    await first.stop('immediate');
    const saved = store.save('t-1', () => aWrite(aTask({ revision: 3 })));
    // For a moment the address leads to one that answers reads alone.
    current = standby;
    expect(await store.flush()).toMatchObject({ code: 'unrecorded' });
    await standby.promote();
    await saved;
    expect((await store.rows.find('t-1'))?.revision).toBe(3);
    const rows = await standby.query(
      'SELECT count(*)::int AS lines FROM audit_lines',
      [],
      there.database,
    );
    expect(rows).toEqual([{ lines: 3 }]);
  });
});
