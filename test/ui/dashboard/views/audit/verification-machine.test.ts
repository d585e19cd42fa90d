import { describe, expect, it } from 'vitest';
import {
  createActor,
  type EventFrom,
  fromCallback,
  getInitialSnapshot,
  getNextSnapshot,
} from 'xstate';
import { verificationMachine } from '../../../../../src/ui/dashboard/views/audit/verification-machine.ts';

type Event = EventFrom<typeof verificationMachine>;

const outcome = {
  ...{ events: 3, signed: 3, checked: true },
  ...{ head: 'ab', checkpoint: null, culprit: null },
};
const culprit = { line: 2, says: 'the line is empty.' };
const asked: Event = { type: 'verification.asked' };

function after(...events: Event[]) {
  const start = getInitialSnapshot(verificationMachine);
  return events.reduce((state, event) => getNextSnapshot(verificationMachine, state, event), start);
}

describe('the chart of a verification', () => {
  it.each([
    ['idle', []],
    [{ running: 'reading' }, [asked]],
    [{ running: 'verifying' }, [asked, { type: 'lines.read', done: 0, total: 3 }]],
    ['cancelled', [asked, { type: 'verification.stopped' }]],
    ['cancelled', [asked, { type: 'verification.stopped' }, { type: 'log.verified', outcome }]],
    ['intact', [asked, { type: 'log.verified', outcome }]],
    ['broken', [asked, { type: 'log.verified', outcome: { ...outcome, culprit } }]],
    ['failed', [asked, { type: 'reading.failed', problem: 'gone' }]],
    ['idle', [{ type: 'log.verified', outcome }]],
  ] satisfies [object | string, Event[]][])('is %s after %j', (value, events) => {
    expect(after(...events).value).toEqual(value);
  });

  it('continues with one read, for any number of its events', () => {
    const calls: string[] = [];
    const machine = verificationMachine.provide({
      actors: { verify: fromCallback(() => void calls.push('begun')) },
    });
    const actor = createActor(machine).start();
    actor.send(asked);
    for (const done of [1, 2, 3]) actor.send({ type: 'lines.read', done, total: 3 });
    actor.stop();
    expect(calls).toEqual(['begun']);
  });

  it('drops its result at a new request', () => {
    const found = after(asked, { type: 'log.verified', outcome: { ...outcome, culprit } });
    expect(getNextSnapshot(verificationMachine, found, asked)).toMatchObject({
      value: { running: 'reading' },
      context: { done: 0, total: 0, outcome: null, problem: null },
    });
  });
});
