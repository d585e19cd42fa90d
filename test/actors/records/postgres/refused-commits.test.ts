import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { patient } from '../../../helpers/patient.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

let place: PostgresPlace;
let store: PostgresStore;
let logged: unknown[];

beforeEach(async () => {
  logged = [];
  const note = (fields: object, message: string) => void logged.push([fields, message]);
  place = await postgresPlace();
  store = await place.open({ log: { info: note, warn: note, error: note } });
});

/** Has the database refuse lines of the log with a code for which waiting is no cure. */
async function forbid(): Promise<void> {
  await place.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE 'no lines on Sundays' USING ERRCODE = 'check_violation'; END $$`);
  await place.execute(
    'CREATE TRIGGER forbidden BEFORE INSERT ON audit_lines EXECUTE FUNCTION refuse()',
  );
}

describe('a database that refuses a commit', () => {
  it('makes the store not writable, until it accepts a retry', async () => {
    await forbid();
    await expect(store.save('t-1', () => aWrite(aTask()))).rejects.toMatchObject({
      code: 'unrecorded',
    });
    expect(store.isWritable()).toBe(false);
    await expect(store.record([anEvent('loose')])).rejects.toMatchObject({ code: 'unrecorded' });
    await place.execute('DROP TRIGGER forbidden ON audit_lines');
    await vi.waitFor(() => expect(store.isWritable()).toBe(true), patient);
    await store.save('t-1', () => aWrite(aTask()));
    expect((await place.lines()).map(({ task_id: id }) => id)).toEqual(['t-1']);
    expect(logged).toEqual([
      [{ error: 'no lines on Sundays' }, 'store: the database refuses a commit'],
    ]);
  });

  it('does not prevent a store from closing', async () => {
    await forbid();
    await expect(store.record([anEvent('loose')])).rejects.toMatchObject({ code: 'unrecorded' });
    await store.close();
    expect(store.isWritable()).toBe(false);
  });
});
