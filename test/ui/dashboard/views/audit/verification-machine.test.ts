import { describe, expect, it } from 'vitest';
import { type EventFrom, getInitialSnapshot, getNextSnapshot } from 'xstate';
import { verificationMachine } from '../../../../../src/ui/dashboard/views/audit/verification-machine.ts';

type Event = EventFrom<typeof verificationMachine>;

const outcome = { events: 3, signed: 3, checked: true, culprit: null };
const culprit = { line: 2, says: 'the line is empty.' };
const asked: Event = { type: 'verification.asked' };

function after(...events: Event[]) {
  const start = getInitialSnapshot(verificationMachine);
  return events.reduce((state, event) => getNextSnapshot(verificationMachine, state, event), start);
}

describe('the chart of a verification', () => {
  it.each([
    ['idle', []],
    ['verifying', [asked]],
    ['idle', [asked, { type: 'verification.stopped' }]],
    ['intact', [asked, { type: 'log.verified', outcome }]],
    ['broken', [asked, { type: 'log.verified', outcome: { ...outcome, culprit } }]],
    ['failed', [asked, { type: 'reading.failed', problem: 'gone' }]],
    ['idle', [{ type: 'log.verified', outcome }]],
  ] satisfies [string, Event[]][])('is %s after %j', (value, events) => {
    expect(after(...events).value).toBe(value);
  });

  it('forgets what it found when it is asked again', () => {
    const found = after(asked, { type: 'log.verified', outcome: { ...outcome, culprit } });
    expect(getNextSnapshot(verificationMachine, found, asked)).toMatchObject({
      value: 'verifying',
      context: { done: 0, total: 0, outcome: null, problem: null },
    });
  });
});
