import { describe, expect, it } from 'vitest';
import { openPasskeys } from '../../../../src/actors/access/sign-in/open-passkeys.ts';
import type { OpenSession } from '../../../../src/actors/ports/web-sessions.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { SoftPasskey } from '../../../helpers/soft-passkey.ts';

const origin = 'https://approvals.example.com';
const minute = 60_000;
const decision = { deferralId: 'd-1', argsSha256: 'a'.repeat(64), decision: 'approve' } as const;
const stale = 'your sign-in is older than 10 minutes; sign out, sign in again and retry';

async function openDesk() {
  const [kind] = kindsOfStores;
  const store = await (await kind!.make()).open();
  const clock = new ManualClock(Date.now());
  const events: string[] = [];
  const record = async ({ event }: { event: string }) => void events.push(event);
  const ports = { records: store.webRecords, clock, record };
  const log = { info() {}, warn() {}, error() {} };
  const passkeys = openPasskeys({ origin, delay: 5 * minute }, { ...ports, log });
  const open: OpenSession = {
    id: 's-1',
    session: {
      caller: { provider: 'staff', userId: 'ann', email: 'ann@example.com' },
      ...{ name: 'Ann', csrf: 'c', signedInAt: clock.now(), expiresAt: clock.now() + 1e9 },
    },
  };
  const register = async (name: string) => {
    const asked: any = await passkeys.startRegistration(open);
    const key = new SoftPasskey(origin);
    const response: any = key.register(asked.options);
    expect(await passkeys.register(open, { name, nonce: asked.nonce, response })).toMatchObject({
      kind: 'registered',
    });
    return key;
  };
  return { passkeys, clock, events, open, register };
}

describe('the passkeys of the approvals page', () => {
  it('are added and removed only within ten minutes of a sign-in', async () => {
    const { passkeys, clock, open, register } = await openDesk();
    const key = await register('Phone');
    const asked: any = await passkeys.startRegistration(open);
    clock.advance(10 * minute + 1);
    const refused = { kind: 'refused', problem: stale };
    expect(await passkeys.startRegistration(open)).toEqual(refused);
    const response: any = new SoftPasskey(origin).register(asked.options);
    const answer = { name: 'Late', nonce: asked.nonce, response };
    expect(await passkeys.register(open, answer)).toEqual(refused);
    expect(await passkeys.remove(open, key.id)).toEqual(refused);
    expect(await passkeys.list(open)).toHaveLength(1);
  });

  it('are not replaced by a key with the same id, of any person', async () => {
    const { passkeys, clock, events, open, register } = await openDesk();
    const key = await register('Phone');
    const bob = { ...open.session, caller: { ...open.session.caller!, userId: 'bob' } };
    for (const session of [open.session, bob]) {
      const other = { id: 's-2', session };
      const asked: any = await passkeys.startRegistration(other);
      const forged = new SoftPasskey(origin, key.id);
      const response: any = forged.register(asked.options);
      expect(await passkeys.register(other, { name: 'x', nonce: asked.nonce, response })).toEqual({
        ...{ kind: 'refused', problem: 'this passkey is in use already' },
      });
    }
    expect(events).toEqual(['passkey_added']);
    expect((await passkeys.list(open)).map(({ id, name }) => [id, name])).toEqual([
      [key.id, 'Phone'],
    ]);
    clock.advance(5 * minute);
    const asked: any = await passkeys.ask(open, decision);
    const response: any = key.confirm(asked.options);
    expect(await passkeys.confirm(open, decision, { nonce: asked.nonce, response })).toMatchObject({
      kind: 'confirmed',
    });
  });

  it('are ten at most', async () => {
    const { passkeys, open, register } = await openDesk();
    for (let count = 0; count < 10; count += 1) await register(`Key ${count}`);
    expect(await passkeys.startRegistration(open)).toEqual({
      ...{ kind: 'refused', problem: 'you have 10 passkeys; remove one first' },
    });
  });

  it('count after the delay, answer within two minutes, and a clone with an old counter is refused', async () => {
    const { passkeys, clock, open, register } = await openDesk();
    const key = await register('Phone');
    expect(await passkeys.ask(open, decision)).toMatchObject({ kind: 'refused' });
    clock.advance(5 * minute);
    const late: any = await passkeys.ask(open, decision);
    clock.advance(2 * minute);
    const confirm = (asked: any, response: any = key.confirm(asked.options)) =>
      passkeys.confirm(open, decision, { nonce: asked.nonce, response });
    expect(await confirm(late)).toMatchObject({ kind: 'refused' });
    const clone: any = await passkeys.ask(open, decision);
    const old = key.confirm(clone.options);
    expect(await confirm(await passkeys.ask(open, decision))).toMatchObject({ kind: 'confirmed' });
    expect(await confirm(clone, old)).toEqual({
      ...{ kind: 'refused', problem: 'the passkey did not confirm this decision; try again' },
    });
    expect((await passkeys.list(open))[0]?.usedAt).toBe(clock.now());
  });

  it('do not answer a challenge of another session of the same person', async () => {
    const { passkeys, clock, open, register } = await openDesk();
    const key = await register('Phone');
    clock.advance(5 * minute);
    const asked: any = await passkeys.ask(open, decision);
    const response: any = key.confirm(asked.options);
    const answer = { nonce: asked.nonce, response };
    expect(await passkeys.confirm({ ...open, id: 's-2' }, decision, answer)).toMatchObject({
      kind: 'refused',
    });
  });

  it('have at most twenty open challenges', async () => {
    const { passkeys, clock, open, register } = await openDesk();
    await register('Phone');
    clock.advance(5 * minute);
    for (let count = 0; count < 20; count += 1) await passkeys.ask(open, decision);
    expect(await passkeys.ask(open, decision)).toMatchObject({ kind: 'refused' });
    clock.advance(2 * minute);
    expect(await passkeys.ask(open, decision)).toMatchObject({ kind: 'asked' });
  });
});
