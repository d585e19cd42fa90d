import { describe, expect, it } from 'vitest';
import type { WebSession } from '../../../../src/actors/ports/web-sessions.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';

const session: WebSession = {
  caller: { provider: 'staff', userId: 'ann', email: 'ann@example.com', groups: ['finance'] },
  name: 'Ann',
  csrf: 'c',
  signedInAt: 1_000,
  expiresAt: 9_000,
};

describe.each(kindsOfStores)('the sessions of the approvals page in $kind', ({ make }) => {
  it('survive a restart, and end when they are deleted', async () => {
    const place = await make();
    const store = await place.open();
    await store.webSessions.add('s-1', session, 1_000);
    await store.close();
    const { webSessions } = await place.open();
    expect(await webSessions.find('s-1')).toEqual(session);
    await webSessions.replace('s-1', { ...session, checkedAt: 5 });
    expect(await webSessions.find('s-1')).toEqual({ ...session, checkedAt: 5 });
    await webSessions.delete('s-1');
    await webSessions.replace('s-1', session);
    expect(await webSessions.find('s-1')).toBeUndefined();
  });

  it('are deleted by a sign-in after their end', async () => {
    const { webSessions } = await (await make()).open();
    await webSessions.add('old', { ...session, expiresAt: 2_000 }, 1_000);
    await webSessions.add('live', session, 1_500);
    expect((await webSessions.find('old'))?.expiresAt).toBe(2_000);
    await webSessions.add('new', session, 2_000);
    expect(await webSessions.find('old')).toBeUndefined();
    expect(await webSessions.find('live')).toEqual(session);
  });
});
