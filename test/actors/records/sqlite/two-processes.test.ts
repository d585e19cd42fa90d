import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyFiles } from '../../../../src/actors/records/log/audit.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import {
  openStore,
  recordedEvents,
  storeFiles,
  temporaryFolder,
} from '../../../helpers/test-system.ts';

describe('several processes that open one store', () => {
  it("lose none of each other's lines while they open and close it", async () => {
    const directory = temporaryFolder();
    const { path, audit } = storeFiles(directory);
    const times = 40;
    const store = await openStore(directory);
    const writes: Promise<void>[] = [];
    const ends = ['one', 'two'].map(async (name) => {
      const script = join(import.meta.dirname, 'writer-process.ts');
      const child = fork(script, [path, audit.path, name, String(times)]);
      child.on('message', () => writes.push(store.record([anEvent('here', writes.length + 1)])));
      const [code] = (await once(child, 'exit')) as [number];
      return code;
    });
    expect(await Promise.all(ends)).toEqual([0, 0]);
    await Promise.all(writes);
    await store.close();
    const recorded = recordedEvents(directory).filter(({ event }) => event !== 'checkpoint');
    for (const [name, count] of [
      ['one', times],
      ['two', times],
      ['here', writes.length],
    ] as const) {
      const seqs = recorded.filter(({ task_id: id }) => id === name).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    }
    expect(await verifyFiles([audit.path])).toMatchObject({ ok: true });
  }, 20_000);

  it('create its tables once', async () => {
    const { path, audit } = storeFiles(temporaryFolder());
    const codes = ['one', 'two', 'three'].map(async (name) => {
      const script = join(import.meta.dirname, 'writer-process.ts');
      const [code] = (await once(fork(script, [path, audit.path, name, '1']), 'exit')) as [number];
      return code;
    });
    expect(await Promise.all(codes)).toEqual([0, 0, 0]);
    expect(await verifyFiles([audit.path])).toMatchObject({ ok: true, events: 3 });
  }, 20_000);
});
