import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../../../src/actors/ports/log.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { patient } from '../../../helpers/patient.ts';
import { sharedPostgres } from '../../../helpers/postgres-server.ts';

let place: PostgresPlace;

beforeEach(async () => {
  place = await postgresPlace();
});

/** Opens a store whose log is kept. */
async function openTelling() {
  const told: [string, object, string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void told.push([level, fields, message]);
  const log: Log = { info: at('info'), warn: at('warn'), error: at('error') };
  const store = await place.open({ log, variable: 'REFUNDS_URL' });
  return { store, told };
}

/** The processes of the server that hold the place of a daemon among the others. */
async function holders(): Promise<unknown[]> {
  const server = await sharedPostgres();
  return server.query(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = $1)`,
    [place.database],
  );
}

describe('a database that answers but accepts no writes', () => {
  it('is detected without a commit, and no daemon takes over', async () => {
    const { store, told } = await openTelling();
    const before = await holders();
    await place.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE ''no room'' USING ERRCODE = ''disk_full''; END'`);
    await place.execute(`CREATE TRIGGER refuse BEFORE UPDATE ON replicas
      FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await vi.waitFor(() => expect(store.isWritable()).toBe(false), patient);
    expect([await holders(), before]).toEqual([before, [{ pid: expect.any(Number) }]]);
    await place.execute('DROP TRIGGER refuse ON replicas');
    await vi.waitFor(() => expect(store.isWritable()).toBe(true), patient);
    expect(await holders()).toEqual(before);
    expect(told).toEqual([
      [
        'warn',
        {
          error:
            'the database of REFUNDS_URL has no room left on its disk; free space there, or add some',
        },
        'store: the database rejects writes',
      ],
      ['info', {}, 'store: the database accepts writes again'],
    ]);
  });
});
