import { describe, expect, it } from 'vitest';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import {
  type NotificationsEvent,
  notificationsMachine,
} from '../../../src/ui/approvals/notifications-machine.ts';

type Done = { type: string; output?: unknown; error?: unknown };

function after(...events: (NotificationsEvent | Done)[]) {
  let snapshot = getInitialSnapshot(notificationsMachine);
  for (const event of events) {
    snapshot = getNextSnapshot(notificationsMachine, snapshot, event as NotificationsEvent);
  }
  return { state: snapshot.value, ...snapshot.context };
}

const done = (state: string, output?: unknown): Done => ({
  type: `xstate.done.actor.0.notifications.${state}`,
  output,
});
const failed = (state: string): Done => ({
  type: `xstate.error.actor.0.notifications.${state}`,
  error: new Error('No.'),
});
const came = { type: 'person.came' } as const;
const [on, off] = [{ type: 'turn-on' }, { type: 'turn-off' }] as const;

describe('the notifications on a device', () => {
  it('are turned on and off by the person', () => {
    expect(after(came, done('reading', 'off')).state).toBe('off');
    expect(after(came, done('reading', 'off'), on, done('turningOn')).state).toBe('on');
    expect(after(came, done('reading', 'on'), off, done('turningOff')).state).toBe('off');
  });

  it('keep their state and the problem of a change, until the next one', () => {
    const refused = after(came, done('reading', 'off'), on, failed('turningOn'));
    expect(refused).toEqual({ state: 'off', problem: 'No.' });
    expect(after(came, done('reading', 'off'), on, failed('turningOn'), on).problem).toBeNull();
    const kept = after(came, done('reading', 'on'), off, failed('turningOff'));
    expect(kept).toEqual({ state: 'on', problem: 'No.' });
  });

  it('are not offered by a browser without them, nor if they cannot be read', () => {
    expect(after(came, done('reading', null)).state).toBe('unsupported');
    expect(after(came, failed('reading')).state).toBe('unsupported');
  });

  it('are dropped when the person left, also during a change', () => {
    const left = after(came, done('reading', 'off'), on, { type: 'person.left' });
    expect(left).toEqual({ state: 'signedOut', problem: null });
  });
});
