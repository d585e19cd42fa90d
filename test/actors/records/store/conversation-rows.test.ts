import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { aSaying, aTurn } from '../../../helpers/chat-thread.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  describe('the messages of chats', () => {
    it('are stored once, for any repetition with any content', async () => {
      const { conversations } = store;
      expect([
        await conversations.take(aTurn(), 1),
        await conversations.take(aTurn({ text: 'again' }), 2),
        await conversations.take(aTurn({ adapter: 'other' }), 3),
        await conversations.take(aTurn({ id: 'm-2' }), 4),
      ]).toEqual([true, false, true, true]);
      expect(await conversations.open()).toEqual([
        aTurn(),
        aTurn({ adapter: 'other' }),
        aTurn({ id: 'm-2' }),
      ]);
    });

    it('are stored with the progress of their answer, also over a restart', async () => {
      const turn = { ...aTurn(), heldId: 'd-1', isLate: true };
      await store.conversations.take(aTurn(), 1);
      await store.conversations.keep(turn);
      await store.close();
      store = await place.open();
      expect(await store.conversations.open()).toEqual([turn]);
    });

    it('are deleted with their final post, but their id is kept', async () => {
      const { conversations } = store;
      await conversations.take(aTurn(), 1);
      await conversations.close(aSaying());
      await conversations.keep({ ...aTurn(), isLate: true });
      expect([await conversations.open(), await conversations.take(aTurn(), 2)]).toEqual([
        [],
        false,
      ]);
    });

    it('may arrive again once their id expired, and stay while they wait for an answer', async () => {
      const { conversations } = store;
      await conversations.take(aTurn(), 1);
      await conversations.take(aTurn({ id: 'm-2' }), 1);
      await conversations.close(aSaying());
      expect([
        await conversations.prune(1),
        await conversations.prune(2),
        await conversations.take(aTurn(), 3),
        await conversations.take(aTurn({ id: 'm-2' }), 3),
      ]).toEqual([0, 1, true, false]);
    });
  });
});
