import { describe, expect, it } from 'vitest';
import type { AcsSession } from '../../../../src/actors/ports/acs-sessions.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

const session: AcsSession = {
  ...{ agentId: 'coder', keyId: 'default', methods: ['steps/userMessage'] },
  ...{ heads: ['aa', 'bb'], entries: 2, isEnded: false, open: { step: 'r-1' } },
};

describe.each(kindsOfStores)('the ACS sessions of $kind', ({ make }) => {
  it('are stored by one of several writers, over a restart', async () => {
    const place = await make();
    const store = await place.open();
    const put = (version: number, entries: number) =>
      store.acsSessions.put('s-1', { ...session, entries }, { version, now: 1_000 });
    const created = await Promise.all([put(0, 1), put(0, 2)]);
    expect(created.filter(Boolean)).toHaveLength(1);
    const changed = await Promise.all([put(1, 3), put(1, 4)]);
    expect(changed.filter(Boolean)).toHaveLength(1);
    expect(await put(1, 5)).toBe(false);
    const found = await store.acsSessions.find('s-1');
    await store.close();
    const { acsSessions } = await place.open();
    expect(await acsSessions.find('s-1')).toEqual(found);
    expect(found).toEqual({ session: { ...session, entries: found?.session.entries }, version: 2 });
    expect(await acsSessions.find('s-2')).toBeUndefined();
  });

  it('use each id once, and know the hold of each call', async () => {
    const { acsSessions } = await (await make()).open();
    const used = await Promise.all(
      Array.from({ length: 8 }, () => acsSessions.reserve('s-1', ['r-1', 'nonce:1'])),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await acsSessions.reserve('s-1', ['r-2', 'nonce:1'])).toBe(false);
    expect(await acsSessions.reserve('s-2', ['r-1', 'nonce:1'])).toBe(true);
    await acsSessions.link('s-1', 'r-1', 'key-1');
    await acsSessions.link('s-1', 'r-1', 'key-2');
    expect(await acsSessions.linked('s-1', 'r-1')).toBe('key-2');
    expect(await acsSessions.linked('s-2', 'r-1')).toBeUndefined();
  });

  it('are deleted with all their data, after the retention', async () => {
    const place = await make();
    const store = await place.open();
    const { acsSessions } = store;
    for (const [id, now] of [
      ['old', 1_000],
      ['new', 2_000],
    ] as const) {
      await acsSessions.put(id, session, { version: 0, now });
      await acsSessions.reserve(id, ['r-1']);
      await acsSessions.link(id, 'r-1', 'key');
    }
    await store.deleteEnded(901_000);
    expect((await acsSessions.find('old'))?.version).toBe(1);
    await store.deleteEnded(901_001);
    expect(await acsSessions.find('old')).toBeUndefined();
    expect(await acsSessions.linked('old', 'r-1')).toBeUndefined();
    expect(await acsSessions.reserve('old', ['r-1'])).toBe(true);
    expect(await acsSessions.linked('new', 'r-1')).toBe('key');
    expect((await acsSessions.find('new'))?.session).toEqual(session);
  });
});
