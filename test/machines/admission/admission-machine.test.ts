import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type {
  AdmissionAnswer,
  AdmissionVerdict,
} from '../../../src/machines/admission/admission-answer.ts';
import {
  type AdmissionAnswered,
  admissionMachine,
} from '../../../src/machines/admission/admission-machine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const admit: AdmissionAnswer = {
  decision: 'admit',
  reason: '',
  scope: 'org',
  window: 'daily',
  resetAt: '',
};
const deny: AdmissionAnswer = {
  decision: 'deny',
  reason: 'quota',
  scope: 'agent',
  window: 'hourly',
  resetAt: '2026-11-21T13:00:00Z',
};
const unasked = { decision: 'admit', reason: '', scope: '', window: '', resetAt: '' };

/** An agent whose calls to the platform end when a test ends them. */
function startAdmission() {
  const clock = new ManualClock(0);
  const calls: PromiseWithResolvers<AdmissionAnswer>[] = [];
  const failures: unknown[] = [];
  const answered: AdmissionVerdict[] = [];
  const actor = createActor(
    admissionMachine.provide({
      actors: {
        askPlatform: fromPromise(() => {
          const call = Promise.withResolvers<AdmissionAnswer>();
          calls.push(call);
          return call.promise;
        }),
      },
      actions: { noteFailure: (_, { error }) => void failures.push(error) },
    }),
    { clock },
  );
  actor.on('admission.answered', ({ verdict }) => answered.push(verdict));
  actor.start();
  return {
    clock,
    calls,
    failures,
    answered,
    value: () => actor.getSnapshot().value,
    ask: () => actor.send({ type: 'admission.ask' }),
    /** Ends the last call and lets its end arrive. */
    async settle(outcome: AdmissionAnswer | Error) {
      const call = calls.at(-1);
      if (outcome instanceof Error) call?.reject(outcome);
      else call?.resolve(outcome);
      for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    },
  };
}

describe('admission', () => {
  it('sends no request until it is triggered', () => {
    const { calls, value, clock } = startAdmission();
    expect({ calls, value: value(), timers: clock.pending }).toEqual({
      calls: [],
      value: 'cold',
      timers: 0,
    });
  });

  it.each([
    ['admitted', admit],
    ['denied', deny],
  ])('is %s for waiting callers and for callers within the window', async (state, answer) => {
    const { ask, settle, answered, calls, value } = startAdmission();
    ask();
    ask();
    expect({ value: value(), answered }).toEqual({ value: 'checking', answered: [] });
    await settle(answer);
    ask();
    expect(value()).toEqual({ known: state });
    expect(calls).toHaveLength(1);
    expect(answered).toEqual([
      { ...answer, cached: false, fallback: false },
      { ...answer, cached: true, fallback: false },
    ]);
  });

  it('admits for one window when the call fails, and reports it once', async () => {
    const { ask, settle, answered, calls, failures, value } = startAdmission();
    ask();
    ask();
    await settle(new Error('no answer'));
    ask();
    expect(value()).toEqual({ known: 'fallback' });
    expect(calls).toHaveLength(1);
    expect(failures).toEqual([new Error('no answer')]);
    expect(answered).toEqual([
      { ...unasked, cached: false, fallback: true },
      { ...unasked, cached: true, fallback: true },
    ]);
  });

  it('starts its window at the answer, and asks again only when triggered after the window', async () => {
    const { ask, settle, clock, calls, answered } = startAdmission();
    ask();
    clock.advance(1_900);
    await settle(deny);
    clock.advance(4_999);
    ask();
    expect(calls).toHaveLength(1);
    clock.advance(1);
    clock.advance(60_000);
    expect(calls).toHaveLength(1);
    ask();
    expect(calls).toHaveLength(2);
    await settle(admit);
    expect(answered.map(({ decision, cached }) => [decision, cached])).toEqual([
      ['deny', false],
      ['deny', true],
      ['admit', false],
    ]);
  });

  it('requests do not extend the window', async () => {
    const { ask, settle, clock, calls } = startAdmission();
    ask();
    await settle(admit);
    for (let times = 0; times < 10; times += 1) {
      clock.advance(500);
      ask();
    }
    expect(calls).toHaveLength(2);
  });

  it('forgets a failure with the next answer', async () => {
    const { ask, settle, clock, answered } = startAdmission();
    ask();
    await settle(new Error('no answer'));
    clock.advance(5_000);
    ask();
    await settle(deny);
    expect(answered.at(-1)).toEqual({ ...deny, cached: false, fallback: false });
  });

  it('answers each call once, and asks at most once in a window', async () => {
    const step = fc.oneof(
      fc.constant('ask' as const),
      fc.constantFrom(admit, deny, new Error('no answer')),
      fc.integer({ min: 1, max: 6_000 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { ask, settle, clock, calls, answered, value } = startAdmission();
        const askedAt: number[] = [];
        let fromMemory = 0;
        for (const next of steps) {
          if (next === 'ask') {
            if (typeof value() === 'object') fromMemory += 1;
            ask();
          } else if (typeof next === 'number') clock.advance(next);
          else await settle(next);
          if (calls.length > askedAt.length) askedAt.push(clock.now());
        }
        await settle(admit);
        expect(answered.filter(({ cached }) => !cached)).toHaveLength(calls.length);
        expect(answered.filter(({ cached }) => cached)).toHaveLength(fromMemory);
        const gaps = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0));
        expect(gaps.every((gap) => gap >= 5_000)).toBe(true);
      }),
    );
  });

  it('admits when no port is connected', async () => {
    const answered: AdmissionAnswered[] = [];
    const actor = createActor(admissionMachine).start();
    actor.on('admission.answered', (event) => answered.push(event));
    actor.send({ type: 'admission.ask' });
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    actor.stop();
    expect(answered).toEqual([
      {
        type: 'admission.answered',
        verdict: { ...unasked, cached: false, fallback: true },
      },
    ]);
  });
});
