import { describe, expect, it } from 'vitest';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

describe.each(kindsOfStores)('the delegations of $kind', ({ make }) => {
  it('are stored until they expire', async () => {
    const place = await make();
    const store = await place.open();
    const [first, second] = [1, 2].map((since) => ({
      ...{ id: `d-${since}`, from: 'ann@example.com', to: 'bo@example.com' },
      ...{ since, until: since * 1_000 },
    })) as [never, never];
    await store.delegations.put(second);
    await store.delegations.put(first);
    await store.close();
    const { delegations } = await place.open();
    expect(await delegations.all(999)).toEqual([first, second]);
    expect(await delegations.all(1_000)).toEqual([second]);
    expect([await delegations.delete('d-2'), await delegations.delete('d-2')]).toEqual([
      true,
      false,
    ]);
    expect(await delegations.all(0)).toEqual([first]);
  });
});
