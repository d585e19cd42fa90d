import { mkdirSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLog } from '../../../../src/actors/records/sqlite/compare-log.ts';
import {
  logNameInCopy,
  SnapshotLog,
  snapshotStore,
} from '../../../../src/actors/records/sqlite/snapshot-store.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { nine, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

const now = () => nine;

/** Writes the files of the log as a backup does, from the descriptors that the snapshot opened. */
function writeLog(log: SnapshotLog, folder: string): string {
  for (const { name, descriptor, bytes } of log.parts) {
    const content = Buffer.alloc(bytes);
    readSync(descriptor, content, 0, bytes, 0);
    writeFileSync(join(folder, name), content);
  }
  return join(folder, logNameInCopy);
}

describe('a snapshot of a store in use', () => {
  it('matches its log at each commit, during any rotation and pruning', async () => {
    const moments = fc.record({
      keep: fc.nat(3),
      before: fc.nat(9),
      /** Commits between the copy of the store and the opening of its log, and then until the log is read. */
      between: fc.nat(9),
      after: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(moments, async ({ keep, before, between, after }) => {
        const directory = temporaryFolder();
        const { path, audit } = storeFiles(directory);
        const rotation = { maxBytes: 300, daily: false, keep };
        const store = await SqliteStore.open({ path, audit: { ...audit, now, rotation } });
        const record = async (count: number) => {
          for (let seq = 1; seq <= count; seq += 1) await store.record([anEvent('t-1', seq)]);
        };
        const copied = join(directory, 'copied');
        mkdirSync(copied);
        try {
          await record(before);
          const copy = join(copied, 'tasks.db');
          const { head } = snapshotStore(path, copy);
          expect(statSync(copy).mode & 0o777).toBe(0o600);
          await record(keep === 0 ? between : 0);
          const opened = new SnapshotLog(audit.path, head);
          await record(after);
          const log = writeLog(opened, copied);
          opened.close();

          expect(await compareLog({ store: copy, log, chain: true })).toBeNull();
          const restored = await SqliteStore.open({
            path: copy,
            audit: { ...audit, path: log, now, rotation },
          });
          await restored.record([anEvent('t-2', 1)]);
          await restored.close();
          expect(await verifyLog(log)).toMatchObject({ ok: true });
          const recorded = eventsOf(log).filter(({ event }) => event === 'tool_exec');
          expect(recorded.at(-1)).toMatchObject(anEvent('t-2', 1));
          if (keep === 0) expect(recorded).toHaveLength(before + 1);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});
