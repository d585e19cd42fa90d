import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { copyLog } from '../../../../src/actors/records/postgres/log-copy.ts';
import { offerLines } from '../../../../src/actors/records/postgres/offer-lines.ts';
import type { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { patient } from '../../../helpers/patient.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

let place: PostgresPlace;
let store: PostgresStore;
let path: string;
let logged: unknown[];

beforeEach(async () => {
  place = await postgresPlace();
  store = await place.open();
  path = join(temporaryFolder(), 'audit.ndjson');
  logged = [];
  reached = [];
});

const record = (from: number, to = from): Promise<void> =>
  store.record(Array.from({ length: to - from + 1 }, (_, at) => anEvent('t-1', from + at)));

/** The last lines that the file had, as reported. */
let reached: number[];

const log = { error: (fields: object, message: string) => void logged.push([fields, message]) };

/** Copies the log to the file; the returned functions end that with all that is there, or at once. */
function copying() {
  const [lost, over] = [new AbortController(), new AbortController()];
  const until = { lost: lost.signal, over: over.signal };
  const copied = copyLog({ store, path, log, until, onCopied: (line) => reached.push(line) });
  const end = (by: AbortController) => (): Promise<void> => {
    by.abort();
    return copied;
  };
  return { finish: end(over), leave: end(lost) };
}

const text = (): string => readFileSync(path, 'utf8');

/** The log of the database, which verifies. */
async function committed(): Promise<string> {
  await place.lines();
  const rows = await place.execute('SELECT text FROM audit_lines ORDER BY line');
  return rows.map((row) => `${String(row['text'])}\n`).join('');
}

describe('the file of the log', () => {
  it('grows with the log, and contains all of it in the end', async () => {
    await record(1, 2_500);
    const { finish } = copying();
    await vi.waitFor(async () => expect(text()).toBe(await committed()), patient);
    await record(2_501, 2_510);
    await finish();
    expect(text()).toBe(await committed());
    expect([reached[0], reached.at(-1)]).toEqual([0, await store.lastLine()]);
    expect(reached).toEqual(reached.toSorted((one, other) => one - other));
  });

  it('continues at its end, after a torn line was cut off', async () => {
    await record(1, 3);
    await copying().finish();
    appendFileSync(path, '{"ts":"20');
    await record(4, 5);
    await copying().finish();
    expect([text(), logged]).toEqual([await committed(), []]);
  });

  it('gets no more lines once its daemon is not the keeper', async () => {
    await record(1);
    const { leave } = copying();
    await vi.waitFor(async () => expect(text()).toBe(await committed()), patient);
    const before = text();
    await leave();
    await record(2);
    expect(text()).toBe(before);
  });

  it('is moved aside unchanged when the database does not know its last line, and the daemon logs that', async () => {
    await record(1, 3);
    await copying().finish();
    const other = `${text()}{"event":"of a time that the database went back from"}\n`;
    writeFileSync(path, other);
    await copying().finish();
    const [aside = ''] = readdirSync(join(path, '..')).filter((name) => name !== 'audit.ndjson');
    expect(aside).toMatch(/^audit\.ndjson\.before-\d{4}-/);
    expect([readFileSync(join(path, '..', aside), 'utf8'), text()]).toEqual([
      other,
      await committed(),
    ]);
    expect(logged).toEqual([
      [
        { file: join(path, '..', aside), lines: 4 },
        'audit: the file held another log than the database, which may be older; it was moved aside, so compare the two',
      ],
    ]);
  });
});

describe('the sinks', () => {
  /** Offers what is there by now, and returns it. */
  async function offered(from: PostgresStore = store): Promise<string> {
    let taken = '';
    const sinks = { offer: (lines: Uint8Array) => void (taken += Buffer.from(lines).toString()) };
    const until = { lost: new AbortController().signal, over: AbortSignal.abort() };
    await offerLines({ store: from, sinks, until });
    return taken;
  }

  it('get the log from its first line, although it began before they did', async () => {
    await record(1, 3);
    expect(await offered()).toBe(await committed());
  });

  it('continue where the last daemon stopped', async () => {
    await record(1, 3);
    const first = await offered();
    await record(4, 5);
    const second = await offered(await place.open());
    expect(first + second).toBe(await committed());
  });

  it('get no line from before the first daemon', async () => {
    await record(1, 3);
    await place.execute('DELETE FROM audit_marks');
    const before = await committed();
    const later = await place.open();
    await record(4);
    expect(before + (await offered(later))).toBe(await committed());
  });
});
