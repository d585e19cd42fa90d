import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { verifyFiles } from '../../../../src/actors/records/log/audit.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import {
  copyFiles,
  openStore,
  recordedEvents,
  storeFiles,
  temporaryFolder,
} from '../../../helpers/test-system.ts';
import { logOf, events as someEvents } from '../log/log-of.ts';

/** Files as a crash leaves them: some events committed, their outbox not yet let go of. */
async function crashed(count = 5): Promise<{ directory: string; log: string; whole: string }> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (let seq = 1; seq <= count; seq += 1) await store.record([anEvent('t-1', seq)]);
  const copy = copyFiles(directory);
  await store.close();
  const log = storeFiles(copy).audit.path;
  return { directory: copy, log, whole: readFileSync(log, 'utf8') };
}

/** Opens the store, writes one more event, and tells what was mended and whether the log verifies. */
async function goOn(directory: string) {
  const store = await openStore(directory);
  const { recovery } = store;
  await store.record([anEvent('t-2')]);
  await store.close();
  const verdict = await verifyFiles([storeFiles(directory).audit.path]);
  return { recovery, ok: verdict.ok, events: recordedEvents(directory).length };
}

describe('opening the log after a crash', () => {
  it('changes nothing when the file and the store agree', async () => {
    const { directory } = await crashed();
    expect(await goOn(directory)).toEqual({
      recovery: { torn: null, replayed: 0 },
      ok: true,
      events: 6,
    });
  });

  it.each([
    ['a line outside the chain', 1, (line: string) => line],
    ['a torn line', 1, (line: string) => line.slice(0, 20)],
    ['a line and a torn one', 2, (line: string) => line + line.slice(0, 20)],
    ['zeros', 1, () => '\0'.repeat(70_000)],
  ])('moves %s into a file next to the log', async (_name, lines, tail) => {
    const { directory, log, whole } = await crashed();
    const torn = tail(`${JSON.stringify(anEvent('t-9'))}\n`);
    appendFileSync(log, torn);
    const file = expect.stringMatching(/^audit\.ndjson\.torn-[\dT-]+Z$/);
    const { recovery, ...rest } = await goOn(directory);
    expect({ recovery, ...rest }).toEqual({
      recovery: { torn: { lines, bytes: torn.length, file }, replayed: 0 },
      ok: true,
      events: 7,
    });
    expect(readFileSync(log, 'utf8').startsWith(whole)).toBe(true);
    const aside = join(directory, recovery.torn?.file ?? '');
    expect([readFileSync(aside, 'utf8'), statSync(aside).mode & 0o777]).toEqual([torn, 0o600]);
  });

  it('rewrites what the file lost, at any cut', async () => {
    const { directory, log, whole } = await crashed();
    for (const size of [0, 1, whole.length - 1, whole.indexOf('\n') + 1, whole.length >> 1]) {
      const copy = copyFiles(directory);
      truncateSync(storeFiles(copy).audit.path, size);
      expect(await goOn(copy)).toEqual({
        recovery: { torn: null, replayed: whole.length - size },
        ok: true,
        events: 7,
      });
      expect(readFileSync(storeFiles(copy).audit.path, 'utf8').startsWith(whole)).toBe(true);
    }
    rmSync(log);
    expect((await goOn(directory)).recovery.replayed).toBe(whole.length);
  });

  it('rewrites what a power cut left as zeros', async () => {
    const { directory, log, whole } = await crashed();
    const from = whole.length >> 1;
    writeFileSync(
      log,
      Buffer.concat([Buffer.from(whole.slice(0, from)), Buffer.alloc(whole.length - from)]),
    );
    expect(await goOn(directory)).toMatchObject({ ok: true, events: 7 });
    expect(readFileSync(log, 'utf8').startsWith(whole)).toBe(true);
  });

  it('refuses a log that lost irreplaceable lines', async () => {
    const { directory, log } = await crashed();
    await (await openStore(directory)).close();
    const { size } = statSync(log);
    truncateSync(log, size - 1);
    const opening = openStore(directory);
    await expect(opening).rejects.toThrow(StoreError);
    await expect(opening).rejects.toThrow(
      `${log} has ${size - 1} bytes but ${size} were written: lines were removed from the audit log; restore it, or move it away together with the task store`,
    );
    expect(statSync(log).size).toBe(size - 1);
  });

  it('does not bridge a gap between the file and the outbox', async () => {
    const { directory, log, whole } = await crashed();
    const database = new DatabaseSync(storeFiles(directory).path);
    database.exec('DELETE FROM audit_outbox WHERE offset = 0');
    database.close();
    truncateSync(log, 10);
    await expect(openStore(directory)).rejects.toThrow(
      `has 10 bytes but ${whole.length} were written`,
    );
    expect(statSync(log).size).toBe(10);
  });
});

describe('a log that no store knows', () => {
  it('is adopted, and its chain continues', async () => {
    const directory = temporaryFolder();
    const { lines } = logOf(someEvents(3));
    const log = storeFiles(directory).audit.path;
    writeFileSync(log, lines.join(''));
    expect(await goOn(directory)).toMatchObject({ ok: true, events: 5 });
    expect(readFileSync(log, 'utf8').startsWith(lines.join(''))).toBe(true);
    expect(recordedEvents(directory)[3]).toMatchObject({
      event: 'store_lost',
      fields: { waiting: 0 },
    });
    expect(await goOn(directory)).toMatchObject({ ok: true, events: 6 });
  });

  it.each([
    ['with a torn last line', (lines: string[]) => lines.join('').slice(0, -5), 3],
    ['without its first line', (lines: string[]) => lines.slice(1).join(''), 1],
    ['with two lines swapped', ([a, b, c]: string[]) => [a, c, b].join(''), 2],
  ])('is refused %s, and not changed', async (_name, broken, line) => {
    const directory = temporaryFolder();
    const log = storeFiles(directory).audit.path;
    const text = broken(logOf(someEvents(3)).lines);
    writeFileSync(log, text);
    await expect(openStore(directory)).rejects.toThrow(
      new RegExp(
        `^${log}:${line}: the audit log does not verify \\(.*\\); move it away to start a new one, or restore it$`,
      ),
    );
    expect(readFileSync(log, 'utf8')).toBe(text);
    renameSync(log, `${log}.old`);
    expect(await goOn(directory)).toMatchObject({ ok: true, events: 1 });
  });

  it('is adopted without verification when the chain is off', async () => {
    const directory = temporaryFolder();
    const log = storeFiles(directory).audit.path;
    writeFileSync(log, 'somebody’s notes\n');
    const store = await openStore(directory, false);
    await store.record([anEvent('t-1')]);
    await store.close();
    const [notes, lost, event, end] = readFileSync(log, 'utf8').split('\n');
    expect([notes, JSON.parse(lost ?? ''), event, end]).toEqual([
      'somebody’s notes',
      { event: 'store_lost', fields: { waiting: 0 }, ts: expect.any(String) },
      '{"event":"tool_exec","seq":1,"task_id":"t-1","ts":"2026-07-01T09:00:00.000Z"}',
      '',
    ]);
  });
});

describe('checkpoints', () => {
  it('come after every 1,000 events, across commits and restarts', async () => {
    const directory = temporaryFolder();
    const log = storeFiles(directory).audit.path;
    for (const count of [600, 399, 1, 2_500]) {
      const store = await openStore(directory);
      await store.record(Array.from({ length: count }, (_, index) => anEvent('t-1', index)));
      await store.close();
    }
    const recorded = recordedEvents(directory);
    const lines = readFileSync(log, 'utf8').split('\n');
    const checkpoints = recorded.flatMap(({ event, fields }, index) =>
      event === 'checkpoint' ? [{ index, fields }] : [],
    );
    expect(checkpoints.map(({ index }) => index)).toEqual([1_000, 2_001, 3_002]);
    expect(checkpoints.map(({ fields }) => fields)).toEqual(
      checkpoints.map(({ index }) => ({
        count: index,
        head: JSON.parse(lines[index]!).prev_hash,
      })),
    );
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 3_503 });
  });

  it('follow after some time too, unless nothing was written since the last one', async () => {
    const directory = temporaryFolder();
    const spy = vi.spyOn(globalThis, 'setInterval');
    const store = await openStore(directory);
    const everyFiveMinutes = spy.mock.calls.find(([, milliseconds]) => milliseconds === 300_000);
    spy.mockRestore();
    const timer = everyFiveMinutes?.[0] as () => void;
    timer();
    await store.flush();
    await store.record([anEvent('t-1')]);
    timer();
    await store.flush();
    timer();
    await store.flush();
    await store.close();
    expect(recordedEvents(directory).map(({ event }) => event)).toEqual([
      anEvent('t-1').event,
      'checkpoint',
    ]);
    expect(await verifyFiles([storeFiles(directory).audit.path])).toMatchObject({ ok: true });
  });
});

describe('synced lines', () => {
  it('leave the outbox with the next commit', async () => {
    const directory = temporaryFolder();
    const spy = vi.spyOn(globalThis, 'setInterval');
    const store = await openStore(directory);
    const [sync] = spy.mock.calls[0]!;
    spy.mockRestore();
    const other = new DatabaseSync(storeFiles(directory).path);
    const kept = () => other.prepare('SELECT offset FROM audit_outbox ORDER BY offset').all();
    await store.record([anEvent('t-1', 1)]);
    await store.record([anEvent('t-1', 2)]);
    const { size } = statSync(storeFiles(directory).audit.path);
    expect(kept()).toHaveLength(2);
    (sync as () => void)();
    let last = 2;
    while (kept().length >= last && last < 200) {
      last += 1;
      await store.record([anEvent('t-1', last)]);
    }
    expect(kept()[0]).toEqual({ offset: size });
    other.close();
    await store.close();
    expect(await goOn(directory)).toMatchObject({
      recovery: { torn: null, replayed: 0 },
      ok: true,
    });
  });
});
