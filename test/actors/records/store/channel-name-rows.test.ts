import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readChannelNames } from '../../../../src/actors/records/store/channel-name-rows.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

describe('the channels that names stand for', () => {
  it('are kept as they were first found, for each adapter, over a restart', async () => {
    const folder = temporaryFolder();
    const store = await openStore(folder);
    store.channelNames.keep('slack', 'refunds', 'C1');
    store.channelNames.keep('slack', 'refunds', 'C2');
    store.channelNames.keep('other', 'refunds', 'C3');
    store.close();
    const again = await openStore(folder);
    const found = ['slack', 'other', 'third'].map((adapter) =>
      again.channelNames.find(adapter, 'refunds'),
    );
    again.close();
    expect(found).toEqual(['C1', 'C3', undefined]);
  });

  it('are read while the store is in use, and are none where there is no store', async () => {
    const folder = temporaryFolder();
    const { path } = storeFiles(folder);
    const absent = readChannelNames(path, 'slack');
    const store = await openStore(folder);
    store.channelNames.keep('slack', 'refunds', 'C1');
    const inUse = readChannelNames(path, 'slack');
    store.close();
    const broken = join(folder, 'broken.db');
    writeFileSync(broken, 'this is no store');
    expect([absent, inUse, readChannelNames(broken, 'slack')]).toEqual([
      new Map(),
      new Map([['refunds', 'C1']]),
      new Map(),
    ]);
  });
});
