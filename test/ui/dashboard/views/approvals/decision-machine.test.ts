import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, SimulatedClock, waitFor } from 'xstate';
import {
  type DecisionDetails,
  type DecisionOutcome,
  decisionMachine,
  type Verb,
} from '../../../../../src/ui/dashboard/views/approvals/decision-machine.ts';

const approve = {
  type: 'decided',
  verb: 'approve',
  details: { note: '', email: '', token: '' },
} as const;

/** A card whose decisions have these outcomes. */
function card(...outcomes: (DecisionOutcome | Error)[]) {
  const clock = new SimulatedClock();
  const sent: unknown[] = [];
  const decide = fromPromise<DecisionOutcome, { verb: Verb; details: DecisionDetails }>(
    ({ input }) => {
      sent.push(input);
      const outcome = outcomes.shift();
      if (outcome instanceof Error) return Promise.reject(outcome);
      return Promise.resolve(outcome ?? { kind: 'resolved' });
    },
  );
  const actor = createActor(decisionMachine.provide({ actors: { decide } }), { clock }).start();
  return { actor, clock, sent };
}

describe('a decision', () => {
  it('is not taken in the first half second', () => {
    const { actor, clock, sent } = card({ kind: 'resolved' });
    clock.increment(499);
    actor.send(approve);
    expect({ value: actor.getSnapshot().value, sent }).toEqual({ value: 'appearing', sent: [] });
    clock.increment(1);
    actor.send(approve);
    actor.send(approve);
    expect(actor.getSnapshot().value).toBe('sending');
    expect(sent).toHaveLength(1);
  });

  it.each<[DecisionOutcome | Error, string, string | null]>([
    [{ kind: 'resolved' }, 'resolved', null],
    [{ kind: 'recorded' }, 'recorded', null],
    [{ kind: 'refused', problem: 'not you' }, 'ready', 'not you'],
    [{ kind: 'over', problem: 'too late' }, 'over', 'too late'],
    [new Error('no answer'), 'ready', 'no answer'],
  ])('%o ends in %s', async (outcome, value, problem) => {
    const { actor, clock } = card(outcome);
    clock.increment(500);
    actor.send(approve);
    const snapshot = await waitFor(actor, (state) => !state.hasTag('busy'));
    expect({ value: snapshot.value, problem: snapshot.context.problem }).toEqual({
      value,
      problem,
    });
  });
});
