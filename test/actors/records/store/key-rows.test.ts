import { expect, it } from 'vitest';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

it.each(kindsOfStores)(
  '$kind stores one random key for each purpose, over a restart',
  async ({ make }) => {
    const place = await make();
    const store = await place.open();
    const [first, again, other] = await Promise.all(
      ['sessions', 'sessions', 'other'].map((purpose) => store.keys.of(purpose)),
    );
    await store.close();
    const { keys } = await place.open();
    expect(first?.length).toBe(32);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(await keys.of('sessions')).toEqual(first);
  },
);
