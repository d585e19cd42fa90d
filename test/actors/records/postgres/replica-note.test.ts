import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

let place: PostgresPlace;
let folder: string;

beforeEach(async () => {
  place = await postgresPlace();
  folder = temporaryFolder();
  await (await place.open()).close();
});

const noted = (): unknown => JSON.parse(readFileSync(join(folder, 'replicas.json'), 'utf8'));

/** Makes it look as if a daemon had been killed a moment ago. */
const killed = (replica: string) =>
  place.execute(`INSERT INTO replicas (id) VALUES ('${replica}') RETURNING id`);

const note = (text: string): void => writeFileSync(join(folder, 'replicas.json'), text);

it('a restarted daemon knows that its predecessor in the folder has exited, however recent', async () => {
  await killed('before');
  note('["before"]');
  const store = await place.open({ folder });
  expect([store.isFirst, noted()]).toEqual([true, [store.replica]]);
});

it('a restarted daemon knows the same of all failed starts since', async () => {
  for (const replica of ['before', 'later']) await killed(replica);
  note('["before","later"]');
  expect((await place.open({ folder })).isFirst).toBe(true);
});

it("a restarted daemon does not wait for its predecessor's connection", async () => {
  const before = await place.open({ folder });
  const after = await place.open({ folder });
  expect([before.isFirst, after.isFirst]).toEqual([true, true]);
});

it('a daemon gives one of another folder the time to come back', async () => {
  for (const replica of ['before', 'elsewhere']) await killed(replica);
  note('["before"]');
  expect((await place.open({ folder })).isFirst).toBe(false);
});

it.each([
  ['no note', null],
  ['a torn note', '["bef'],
  ['an invalid note', '{"before": true}'],
])('a daemon gives every other that time with %s, and rewrites it', async (_name, text) => {
  await killed('before');
  if (text !== null) note(text);
  const store = await place.open({ folder });
  expect([store.isFirst, noted()]).toEqual([false, [store.replica]]);
});

it('a daemon starts where the note cannot be written', async () => {
  mkdirSync(join(folder, 'replicas.json'));
  expect((await place.open({ folder })).isFirst).toBe(true);
});

it('a daemon remembers its predecessor while the database is unreachable', async () => {
  await killed('before');
  note('["before"]');
  const url = (): string => 'postgresql://127.0.0.1:1/none';
  for (const _ of [1, 2]) await expect(place.open({ folder, url })).rejects.toThrow();
  expect(noted()).toEqual(['before', expect.any(String), expect.any(String)]);
  expect((await place.open({ folder })).isFirst).toBe(true);
});
