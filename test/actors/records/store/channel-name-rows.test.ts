import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  describe('the stored channel ids of names', () => {
    it('are kept as first found, for each adapter, over a restart', async () => {
      await store.channelNames.keep('slack', 'refunds', 'C1');
      await store.channelNames.keep('slack', 'refunds', 'C2');
      await store.channelNames.keep('other', 'refunds', 'C3');
      await store.close();
      const { channelNames } = await place.open();
      const found = await Promise.all(
        ['slack', 'other', 'third'].map((adapter) => channelNames.find(adapter, 'refunds')),
      );
      expect(found).toEqual(['C1', 'C3', undefined]);
    });
  });

  describe('the releases of the chart', () => {
    it('are those that ran it last', async () => {
      await store.releases.keep(1, '0.1.0');
      await store.releases.keep(1, '0.2.0');
      await store.releases.keep(2, '0.2.0');
      const found = await Promise.all([1, 2, 3].map((version) => store.releases.find(version)));
      expect(found).toEqual(['0.2.0', '0.2.0', null]);
    });
  });
});
