import { describe, expect, it } from 'vitest';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import type { PasskeyJson } from '../../../src/http/wire/approvals-page.ts';
import { type PasskeysEvent, passkeysMachine } from '../../../src/ui/approvals/passkeys-machine.ts';

const phone: PasskeyJson = {
  ...{ id: 'k-1', name: 'Phone', used_at: null },
  ...{ created_at: '2026-11-26T20:00:00Z', counts_from: '2026-11-26T21:00:00Z' },
};

type Done = { type: string; output?: unknown; error?: unknown };

function after(...events: (PasskeysEvent | Done)[]) {
  let snapshot = getInitialSnapshot(passkeysMachine);
  for (const event of events) {
    snapshot = getNextSnapshot(passkeysMachine, snapshot, event as PasskeysEvent);
  }
  return { state: snapshot.value, ...snapshot.context };
}

const done = (state: string, output?: unknown): Done => ({
  type: `xstate.done.actor.0.passkeys.${state}`,
  output,
});
const failed = (state: string): Done => ({
  type: `xstate.error.actor.0.passkeys.${state}`,
  error: new Error('No.'),
});
const came = { type: 'person.came' } as const;
const read = done('reading', [phone]);
const add = { type: 'add', name: 'Phone' } as const;
const remove = { type: 'remove', id: 'k-1' } as const;

describe('the passkeys on the page', () => {
  it('are read when a person signs in, and again after each change', () => {
    const listed = { state: 'listed', passkeys: [phone], problem: null };
    expect(after(came, read)).toEqual(listed);
    expect(after(came, read, add, done('adding'), read)).toEqual(listed);
    expect(after(came, read, remove, done('removing'), read)).toEqual(listed);
  });

  it('show the problem of a change, and accept one change at a time', () => {
    const problem = 'No.';
    expect(after(came, failed('reading'))).toMatchObject({ state: 'unread', problem });
    expect(after(came, failed('reading'), { type: 'retry' }).problem).toBeNull();
    expect(after(came, read, add, failed('adding'))).toMatchObject({ state: 'listed', problem });
    const again = after(came, read, remove, failed('removing'), read);
    expect(again).toMatchObject({ state: 'listed', problem });
    expect(after(came, read, add, remove).state).toBe('adding');
  });

  it('are dropped when the person left, also during a change', () => {
    const none = { state: 'signedOut', passkeys: [], problem: null };
    expect(after(came, read, { type: 'person.left' })).toEqual(none);
    expect(after(came, read, add, { type: 'person.left' }, done('adding'))).toEqual(none);
  });
});
