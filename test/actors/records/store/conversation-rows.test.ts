import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { aSaying, aTurn } from '../../../helpers/chat-thread.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

let store: TaskStore;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openStore(folder);
});

afterEach(() => store.close());

describe('what was said in chats', () => {
  it('is taken in once, whatever comes again and whatever it says then', () => {
    const { conversations } = store;
    expect([
      conversations.take(aTurn(), 1),
      conversations.take(aTurn({ text: 'again' }), 2),
      conversations.take(aTurn({ adapter: 'other' }), 3),
      conversations.take(aTurn({ id: 'm-2' }), 4),
    ]).toEqual([true, false, true, true]);
    expect(conversations.open()).toEqual([
      aTurn(),
      aTurn({ adapter: 'other' }),
      aTurn({ id: 'm-2' }),
    ]);
  });

  it('is kept with how far its answer is, also over a restart', async () => {
    const turn = { ...aTurn(), heldId: 'd-1', isLate: true };
    store.conversations.take(aTurn(), 1);
    store.conversations.keep(turn);
    store.close();
    store = await openStore(folder);
    expect(store.conversations.open()).toEqual([turn]);
  });

  it('is forgotten with its last word, but not that it was heard', () => {
    const { conversations } = store;
    conversations.take(aTurn(), 1);
    conversations.close(aSaying());
    conversations.keep({ ...aTurn(), isLate: true });
    expect([conversations.open(), conversations.take(aTurn(), 2)]).toEqual([[], false]);
  });

  it('may come again once its id is forgotten, and stays while it waits for an answer', () => {
    const { conversations } = store;
    conversations.take(aTurn(), 1);
    conversations.take(aTurn({ id: 'm-2' }), 1);
    conversations.close(aSaying());
    expect([
      conversations.prune(1),
      conversations.prune(2),
      conversations.take(aTurn(), 3),
      conversations.take(aTurn({ id: 'm-2' }), 3),
    ]).toEqual([0, 1, true, false]);
  });
});
