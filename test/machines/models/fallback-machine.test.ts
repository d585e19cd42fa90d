import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, initialTransition, transition } from 'xstate';
import type { CallFault } from '../../../src/machines/domain/call-fault.ts';
import { fallbackMachine } from '../../../src/machines/models/fallback-machine.ts';
import type { CallOutcome } from '../../../src/machines/models/model-call.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const first = { provider: 'openai', model: 'gpt', readyAt: 0 };
const second = { provider: 'anthropic', model: 'claude', readyAt: 0 };
const now = 1_000_000;

function begin(...candidates: (typeof first)[]) {
  return initialTransition(fallbackMachine, { candidates, now })[0];
}

type State = ReturnType<typeof begin>;

function failure(fault: CallFault, more: { hasSpoken?: boolean; rest?: number; at?: number } = {}) {
  const at = more.at ?? now + 10;
  const { hasSpoken = false, rest = 1_000 } = more;
  const text = `it was ${fault}`;
  return { ...first, fault, text, hasSpoken, at, readyAt: at + rest };
}

/** Ends the call that is under way. */
function ended(state: State, output: CallOutcome): State {
  const event = { type: 'xstate.done.actor.0.fallback.asking', output } as never;
  return transition(fallbackMachine, state, event)[0];
}

const failed = (state: State, ...given: Parameters<typeof failure>) =>
  ended(state, { kind: 'failed', failure: failure(...given) });

const standing = (state: State) => [state.value, state.context.current];

describe('a chain of models', () => {
  it('asks the first model and returns its answer', () => {
    const asking = begin(first, second);
    expect(standing(asking)).toEqual(['asking', 0]);
    const answered = ended(asking, { kind: 'answered' });
    expect([answered.value, answered.output]).toEqual([
      'answered',
      { answeredBy: 0, failures: [] },
    ]);
  });

  it.each(['busy', 'late', 'broken', 'unreachable'] as const)(
    'asks the next model when the first is %s',
    (fault) => {
      const next = failed(begin(first, second), fault);
      expect(standing(next)).toEqual(['asking', 1]);
      const answered = ended(next, { kind: 'answered' });
      expect(answered.output).toEqual({ answeredBy: 1, failures: [failure(fault)] });
    },
  );

  it.each(['refused', 'unusable'] as const)('asks no other model when the first %s', (fault) => {
    const over = failed(begin(first, second), fault);
    expect([over.value, over.output]).toEqual([
      'failed',
      { answeredBy: null, failures: [failure(fault)] },
    ]);
  });

  it('asks no other model after words of the answer were shown', () => {
    const over = failed(begin(first, second), 'broken', { hasSpoken: true });
    expect(over.value).toBe('failed');
  });

  it('skips a model that is in its pause', () => {
    expect(standing(begin({ ...first, readyAt: now + 1 }, second))).toEqual(['asking', 1]);
    expect(standing(begin({ ...first, readyAt: now }, second))).toEqual(['asking', 0]);
  });

  it('waits for the model with the shortest pause when all models pause', () => {
    const waiting = begin({ ...first, readyAt: now + 9_000 }, { ...second, readyAt: now + 4_000 });
    expect(standing(waiting)).toEqual(['waiting', -1]);
    const event = { type: 'xstate.after.untilReady.fallback.waiting' } as never;
    const [next] = transition(fallbackMachine, waiting, event);
    expect(standing(next)).toEqual(['asking', 1]);
  });

  it('fails at once when every pause is longer than the limit', () => {
    const over = begin({ ...first, readyAt: now + 20_001 });
    expect([over.value, over.output]).toEqual(['failed', { answeredBy: null, failures: [] }]);
    expect(begin({ ...first, readyAt: now + 20_000 }).value).toBe('waiting');
  });

  it('asks one model three times at most', async () => {
    const clock = new ManualClock(now);
    const asked: number[] = [];
    const ask = fromPromise<CallOutcome, { index: number }>(async ({ input }) => {
      asked.push(input.index);
      return { kind: 'failed', failure: failure('busy', { at: clock.now() }) };
    });
    const actor = createActor(fallbackMachine.provide({ actors: { ask } }), {
      input: { candidates: [first, second], now },
      clock,
    });
    actor.start();
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.resolve();
      if (actor.getSnapshot().value === 'waiting') clock.advance(1_000);
    }
    expect(actor.getSnapshot().value).toBe('failed');
    expect(asked).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it('does not wait for a model that was asked three times', () => {
    const chain = begin(first, { ...second, readyAt: now + 30_000 });
    const tried = [1, 2].reduce((asking) => failed(asking, 'busy', { at: now, rest: 0 }), chain);
    expect(standing(tried)).toEqual(['asking', 0]);
    expect(standing(failed(tried, 'busy', { at: now, rest: 0 }))).toEqual(['failed', 0]);
    const another = begin(first, { ...second, readyAt: now + 9_000 });
    const left = [1, 2, 3].reduce(
      (asking) => failed(asking, 'busy', { at: now, rest: 0 }),
      another,
    );
    expect(standing(left)).toEqual(['waiting', 0]);
    const woken = { type: 'xstate.after.untilReady.fallback.waiting' } as never;
    expect(standing(transition(fallbackMachine, left, woken)[0])).toEqual(['asking', 1]);
  });

  it('fails when its port is not connected', async () => {
    const actor = createActor(fallbackMachine, { input: { candidates: [first], now } });
    const ended = Promise.withResolvers<unknown>();
    actor.subscribe({ error: ended.resolve });
    actor.start();
    expect(await ended.promise).toEqual(new Error('the port is not filled'));
  });

  it('waits no longer than the total limit, however long its calls took', () => {
    const over = failed(begin(first), 'late', { at: now + 300_000 });
    expect(over.value).toBe('failed');
  });
});
