import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyFiles } from '../../../src/actors/audit/audit.ts';
import { anEvent } from '../../helpers/stored-tasks.ts';
import {
  openStore,
  recordedEvents,
  storeFiles,
  temporaryFolder,
} from '../../helpers/test-system.ts';

describe('several processes that open one store', () => {
  it('lose none of each other’s lines, from the very first on', async () => {
    const directory = temporaryFolder();
    const { path, audit } = storeFiles(directory);
    const times = 40;
    const ends = ['one', 'two'].map(async (name) => {
      const script = join(import.meta.dirname, 'writer-process.ts');
      const [code] = await once(fork(script, [path, audit.path, name, String(times)]), 'exit');
      return code as number;
    });
    const store = await openStore(directory);
    let isOver = false;
    const over = Promise.all(ends).finally(() => {
      isOver = true;
    });
    let written = 0;
    while (!isOver) {
      written += 1;
      await store.record([anEvent('here', written)]);
    }
    store.close();
    expect(await over).toEqual([0, 0]);
    const recorded = recordedEvents(directory).filter(({ event }) => event !== 'checkpoint');
    for (const [name, count] of [['one', times], ['two', times], ['here', written]] as const) {
      const seqs = recorded.filter(({ task_id: id }) => id === name).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    }
    expect(await verifyFiles([audit.path])).toMatchObject({ ok: true });
  }, 20_000);
});
