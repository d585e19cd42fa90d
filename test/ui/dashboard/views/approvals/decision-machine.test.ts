import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, SimulatedClock, waitFor } from 'xstate';
import {
  type DecisionOutcome,
  decisionMachine,
  type PasskeyOutcome,
  type QuestionOutcome,
  type SentDecision,
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
  const decide = fromPromise<DecisionOutcome, SentDecision>(({ input }) => {
    sent.push(input);
    const outcome = outcomes.shift();
    if (outcome instanceof Error) return Promise.reject(outcome);
    return Promise.resolve(outcome ?? { kind: 'resolved' });
  });
  const actor = createActor(decisionMachine.provide({ actors: { decide } }), { clock }).start();
  return { actor, clock, sent };
}

describe('a decision', () => {
  it('is not accepted in the first half second', () => {
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

  const withPasskey = { ...approve, details: { ...approve.details, passkey: true } } as const;

  it('with a passkey is sent after the passkey has confirmed it', async () => {
    const sent: unknown[] = [];
    const actor = createActor(
      decisionMachine.provide({
        delays: { settling: 0 },
        actors: {
          ask: fromPromise<QuestionOutcome, SentDecision>(({ input: { verb } }) =>
            Promise.resolve({ kind: 'asked', question: { verb } }),
          ),
          confirm: fromPromise<PasskeyOutcome, { question: object }>(({ input }) =>
            Promise.resolve({ kind: 'confirmed', answer: { to: input.question } }),
          ),
          decide: fromPromise<DecisionOutcome, SentDecision>(({ input }) => {
            sent.push(input);
            return Promise.resolve({ kind: 'resolved' });
          }),
        },
      }),
    ).start();
    await waitFor(actor, (state) => state.matches('ready'));
    actor.send(withPasskey);
    expect(actor.getSnapshot().value).toBe('asking');
    actor.send(approve);
    await waitFor(actor, (state) => state.matches('resolved'));
    const { verb, details } = withPasskey;
    expect(sent).toEqual([{ verb, details, answer: { to: { verb } } }]);
  });

  it.each<[QuestionOutcome | Error, PasskeyOutcome | Error, string, string]>([
    [{ kind: 'over', problem: 'changed' }, new Error('unasked'), 'over', 'changed'],
    [{ kind: 'refused', problem: 'no passkey' }, new Error('unasked'), 'ready', 'no passkey'],
    [new Error('no answer'), new Error('unasked'), 'ready', 'no answer'],
    [{ kind: 'asked', question: {} }, { kind: 'refused', problem: 'left' }, 'ready', 'left'],
    [{ kind: 'asked', question: {} }, new Error('broken'), 'ready', 'broken'],
  ])('with a passkey, %o and %o, is not sent', async (question, answer, value, problem) => {
    const { actor, clock, sent } = card();
    const outcome = <Kind>(one: Kind | Error) =>
      one instanceof Error ? Promise.reject(one) : Promise.resolve(one);
    const asking = createActor(
      decisionMachine.provide({
        actors: {
          ask: fromPromise<QuestionOutcome, SentDecision>(() => outcome(question)),
          confirm: fromPromise<PasskeyOutcome, { question: object }>(() => outcome(answer)),
        },
      }),
      { clock },
    ).start();
    actor.stop();
    clock.increment(500);
    asking.send(withPasskey);
    const snapshot = await waitFor(asking, (state) => !state.hasTag('busy'));
    expect([snapshot.value, snapshot.context.problem, sent]).toEqual([value, problem, []]);
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
