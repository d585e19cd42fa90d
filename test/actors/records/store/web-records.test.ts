import { describe, expect, it } from 'vitest';
import type { WebRecord } from '../../../../src/actors/ports/web-records.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

const record = (more: Partial<WebRecord> = {}): WebRecord => ({
  ...{ kind: 'passkey', id: 'k-1', owner: 'ann', expiresAt: null, value: { name: 'Phone' } },
  ...more,
});

describe.each(kindsOfStores)('the records of the approvals page in $kind', ({ make }) => {
  it('survive a restart, and are found by person', async () => {
    const place = await make();
    const store = await place.open();
    await store.webRecords.put(record(), 1);
    await store.webRecords.put(record({ id: 'k-2', owner: 'bob' }), 1);
    await store.webRecords.put(record({ kind: 'challenge', expiresAt: 9 }), 1);
    await store.close();
    const { webRecords } = await place.open();
    expect(await webRecords.list('passkey', 'ann')).toEqual([record()]);
    expect((await webRecords.list('passkey')).map(({ id }) => id)).toEqual(['k-1', 'k-2']);
    expect(await webRecords.find('challenge', 'k-1')).toMatchObject({ expiresAt: 9 });
  });

  it('are replaced and changed only by their person, and not created by a change', async () => {
    const { webRecords } = await (await make()).open();
    expect(await webRecords.change(record())).toBe(false);
    expect(await webRecords.put(record(), 1)).toBe(true);
    expect(await webRecords.put(record({ owner: 'bob' }), 1)).toBe(false);
    expect(await webRecords.change(record({ owner: 'bob', value: {} }))).toBe(false);
    expect(await webRecords.find('passkey', 'k-1')).toEqual(record());
    const renamed = record({ value: { name: 'Tablet' } });
    expect(await webRecords.change(renamed)).toBe(true);
    expect(await webRecords.find('passkey', 'k-1')).toEqual(renamed);
  });

  it('are added once', async () => {
    const { webRecords } = await (await make()).open();
    expect(await webRecords.add(record({ expiresAt: 5 }), 1)).toBe(true);
    expect(await webRecords.add(record(), 1)).toBe(false);
    expect(await webRecords.add(record({ owner: 'bob' }), 1)).toBe(false);
    expect(await webRecords.find('passkey', 'k-1')).toEqual(record({ expiresAt: 5 }));
    expect(await webRecords.add(record(), 5)).toBe(true);
  });

  it('are taken once by several daemons, and deleted after their end', async () => {
    const place = await make();
    const stores = [await place.open()];
    if (stores[0]?.remedy.includes('database') === true) stores.push(await place.open());
    const [one, other = one] = stores.map(({ webRecords }) => webRecords);
    const challenge = record({ kind: 'challenge', expiresAt: 5 });
    await one?.put(challenge, 1);
    const taken = await Promise.all([
      one?.take('challenge', 'k-1'),
      other?.take('challenge', 'k-1'),
    ]);
    expect(taken.filter((found) => found !== undefined)).toEqual([challenge]);
    await one?.put(challenge, 1);
    await one?.put(record(), 5);
    expect(await one?.find('challenge', 'k-1')).toBeUndefined();
  });
});
