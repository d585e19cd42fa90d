import { describe, expect, it } from 'vitest';
import type { Grant } from '../../../../src/machines/domain/grant.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

const grant: Grant = {
  ...{ id: 'g-1', tool: 'pay', requester: { provider: 'sso', userId: 'rita' } },
  ...{ argsSha256: 'a'.repeat(64), runsSha256: 'b'.repeat(64), ruleSha256: 'c'.repeat(64) },
  ...{ deferralId: 'd-1', approver: 'ann@example.com', since: 0, until: 1_000, usesLeft: 3 },
};

describe.each(kindsOfStores)('the grants of $kind', ({ make }) => {
  it('are used as often as they allow by many at once, over a restart', async () => {
    const place = await make();
    const store = await place.open();
    await store.grants.put(grant);
    await store.close();
    const { grants } = await place.open();
    expect(await grants.all(999)).toEqual([grant]);
    expect(await grants.usable('pay', 'sso\nrita', 999)).toEqual([grant]);
    expect([
      await grants.usable('pay', 'sso\nbo', 0),
      await grants.usable('mail', 'sso\nrita', 0),
      await grants.usable('pay', 'sso\nrita', 1_000),
    ]).toEqual([[], [], []]);
    const uses = await Promise.all(Array.from({ length: 8 }, () => grants.use('g-1', 999)));
    expect(uses.filter((left) => left === null)).toHaveLength(5);
    expect(new Set(uses)).toEqual(new Set([0, 1, 2, null]));
    expect(await grants.all(0)).toEqual([]);
    await grants.giveBack('g-1');
    expect(await grants.all(0)).toEqual([{ ...grant, usesLeft: 1 }]);
  });

  it('expire with their time, a rejection and a revocation', async () => {
    const { grants } = await (await make()).open();
    await grants.put(grant);
    await grants.put({ ...grant, id: 'g-2', tool: 'mail' });
    expect([await grants.use('g-1', 1_000), await grants.use('g-3', 0)]).toEqual([null, null]);
    expect(await grants.suspend('pay', 'sso\nbo')).toEqual([]);
    expect(await grants.suspend('pay', 'sso\nrita')).toEqual([{ ...grant, isSuspended: true }]);
    expect(await grants.suspend('pay', 'sso\nrita')).toEqual([]);
    expect(await grants.use('g-1', 0)).toBeNull();
    expect(await grants.usable('pay', 'sso\nrita', 0)).toEqual([]);
    expect((await grants.all(0)).map(({ id, isSuspended }) => [id, isSuspended])).toEqual([
      ['g-1', true],
      ['g-2', undefined],
    ]);
    expect([await grants.delete('g-2'), await grants.delete('g-2')]).toEqual([true, false]);
    await grants.put({ ...grant, id: 'g-3', since: 1_000, until: 2_000 });
    expect((await grants.all(0)).map(({ id }) => id)).toEqual(['g-3']);
  });
});
