import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readChannelNames } from '../../../../src/actors/records/sqlite/sqlite-channel-name-rows.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

describe('the stored channel ids of names', () => {
  it('are read while the store is in use, and are empty without a store', async () => {
    const folder = temporaryFolder();
    const { path } = storeFiles(folder);
    const absent = readChannelNames(path, 'slack');
    const store = await openStore(folder);
    await store.channelNames.keep('slack', 'refunds', 'C1');
    const inUse = readChannelNames(path, 'slack');
    await store.close();
    const broken = join(folder, 'broken.db');
    writeFileSync(broken, 'this is no store');
    expect([absent, inUse, readChannelNames(broken, 'slack')]).toEqual([
      new Map(),
      new Map([['refunds', 'C1']]),
      new Map(),
    ]);
  });
});
