import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/machines/domain/task.ts';
import {
  defaultLimits,
  limitOf,
  limitReached,
  nothingSpent,
  spendTime,
  spendTurn,
  tokensOf,
} from '../../../src/machines/task/limits.ts';
import { begin, finish, restingStates, type Step, step } from '../../helpers/step-task.ts';
import {
  aCall,
  allowed,
  anAttempt,
  returned,
  said,
  saved,
  times,
} from '../../helpers/task-fixtures.ts';

const none = { ...defaultLimits };

/** A step under limits: its state, its last request, and the reason of its failure. */
function standing({ snapshot, effects }: Step) {
  const { value, context } = snapshot;
  return { value, failure: context.failure, last: effects.at(-1) };
}

const ended = (limit: string) => ['note', { type: 'session.ended', state: 'failed', limit }];

describe('the usage of a run', () => {
  const thought = (inputTokens: number, outputTokens: number, more = {}) => ({
    ...said(''),
    duration: 10,
    inputTokens,
    outputTokens,
    ...more,
  });

  it('is the sum of its turns and calls, and never negative', () => {
    const once = spendTurn(nothingSpent, thought(90, 10, { estimatedTokens: 60 }));
    const usage = { model: 'demo', inputTokens: 90, outputTokens: 10, duration: 10 };
    expect(once).toEqual({ turns: 0, time: 10, usage, tokensPerEstimate: 1.5 });
    const odd = spendTurn(once, thought(Number.NaN, -3, { estimatedTokens: 60, duration: 0 }));
    expect(odd).toEqual(once);
    expect([spendTime(once, 5).time, spendTime(once, -5).time]).toEqual([15, 10]);
  });

  it.each([
    [1_000_000, 4],
    [1, 1],
    [Number.POSITIVE_INFINITY, 1],
  ])(
    'is corrected, by a provider that counts %d tokens for 100 estimated ones, by %d',
    (tokens, by) => {
      const { tokensPerEstimate } = spendTurn(
        nothingSpent,
        thought(tokens, 0, { estimatedTokens: 100 }),
      );
      expect(tokensPerEstimate).toBe(by);
    },
  );

  it.each([
    ['counts nothing', 0, { estimatedTokens: 60 }],
    ['returns a negative count', -90, { estimatedTokens: 60 }],
    ['has no estimate', 90, {}],
    ['has an estimate of zero', 90, { estimatedTokens: 0 }],
  ])('is corrected with the last factor for a provider that %s', (_, tokens, more) => {
    const before = { ...nothingSpent, tokensPerEstimate: 2 };
    expect(spendTurn(before, thought(tokens, 0, more)).tokensPerEstimate).toBe(2);
  });

  it('is all read and written tokens, and zero before the first turn', () => {
    const usage = { model: 'demo', inputTokens: 90, outputTokens: 10, duration: 7 };
    expect([tokensOf(nothingSpent), tokensOf({ ...nothingSpent, usage })]).toEqual([0, 100]);
  });

  it.each([
    [{}, 1e9, null],
    [{ tokens: 100 }, 0, 'tokens'],
    [{ tokens: 101 }, 0, null],
    [{ time: 10 }, 0, 'time'],
    [{ time: 11 }, 0, null],
    [{ time: 11 }, 1, 'time'],
    [{ tokens: 100, time: 10 }, 0, 'tokens'],
  ])('of the limits %j, %d ms later, reaches %s', (limits, busy, reached) => {
    const usage = { model: 'demo', inputTokens: 90, outputTokens: 10, duration: 0 };
    const spent = { ...nothingSpent, usage, time: 10 };
    expect(limitReached(spent, { ...none, ...limits }, busy)).toBe(reached);
  });
});

describe('the limit that ended a run', () => {
  const text = '';
  const tool = 'issue_refund';

  it.each<[Failure | null, string | undefined]>([
    [{ kind: 'turnLimit', text }, 'turns'],
    [{ kind: 'errorLimit', text }, 'errors'],
    [{ kind: 'tokenLimit', text }, 'tokens'],
    [{ kind: 'timeLimit', text }, 'time'],
    [{ kind: 'model', text }, undefined],
    [{ kind: 'tool', text, tool }, undefined],
    [{ kind: 'timedOut', text, tool }, undefined],
    [null, undefined],
  ])('of %j is %s', (failure, limit) => {
    expect(limitOf(failure)).toBe(limit);
  });
});

describe('the token limit', () => {
  const limits = { ...none, tokens: 16 };

  it('ends a run that requests a tool, before the tool is ruled on', () => {
    const once = finish(begin({ limits: { ...none, tokens: 8 } }), 'think', said('', [aCall()]));
    expect(standing(once)).toEqual({
      value: 'failed',
      failure: {
        kind: 'tokenLimit',
        text: 'the run was ended after 8 tokens, where it may use 8; give the agent a narrower task, or raise model.max_tokens_per_task',
      },
      last: ended('tokens'),
    });
  });

  it('counts the tokens of all turns together', () => {
    let run = finish(begin({ limits }), 'think', said('', [aCall()]));
    run = step(finish(run, 'govern', allowed()), saved());
    run = step(finish(run, 'runTool', returned('done')), saved());
    expect(run.snapshot.value).toEqual({ working: 'thinking' });
    expect(standing(finish(run, 'think', said('', [aCall()])))).toMatchObject({
      value: 'failed',
      failure: { kind: 'tokenLimit' },
    });
  });

  it('accepts an answer that reaches it', () => {
    expect(
      finish(begin({ limits: { ...none, tokens: 1 } }), 'think', said('hi')).snapshot.value,
    ).toBe('completed');
  });
});

describe('the time limit', () => {
  const limits = { ...none, time: 500 };
  const text =
    'the run was ended after 500ms of work; give the agent a narrower task, or raise model.max_time';
  const failure = { kind: 'timeLimit', text };
  const running = (): Step => {
    const run = finish(begin({ limits }), 'think', said('', [aCall()]));
    return step(finish(run, 'govern', allowed()), saved());
  };

  it('ends a run between two calls, and starts no further call', () => {
    const over = finish(running(), 'runTool', returned('done'));
    expect(standing(step(over, saved()))).toEqual({
      value: 'failed',
      failure,
      last: ended('time'),
    });
  });

  it('aborts a call that exceeds the rest of the time, and logs its end', () => {
    const at = times.began + 488;
    const before = step(running(), { type: 'time.passed', at, busy: 487 });
    expect(before.snapshot.value).toEqual({ working: { executing: { calling: 'running' } } });
    const over = step(running(), { type: 'time.passed', at, busy: 488 });
    expect(over.snapshot.value).toBe('failed');
    expect(over.effects).toEqual([
      ['stop', 'runTool'],
      ['dropCredential', 'call-1'],
      ['note', expect.objectContaining({ type: 'tool.ended', error: text, duration: 488 })],
      ended('time'),
    ]);
  });

  it('does not count the wait for a person', () => {
    const waiting = restingStates.asked(undefined, { limits });
    expect(step(waiting, { type: 'time.passed', at: times.decided, busy: 1e9 }).snapshot).toBe(
      waiting.snapshot,
    );
    const decided = step(waiting, { type: 'deferral.decide', attempt: anAttempt() });
    expect(decided.snapshot.context.spent.time).toBe(12);
  });
});

describe('a run without limits of tokens and time', () => {
  it('continues with any usage', () => {
    const costly = { ...said('', [aCall()]), inputTokens: 1e9, duration: 1e9 };
    expect(finish(begin(), 'think', costly).snapshot.value).toEqual({ working: 'governing' });
  });
});

describe('a model that makes different requests each turn', () => {
  it('is not reported as repeating itself', () => {
    let run = begin({ limits: { ...none, turns: 2 } });
    for (const id of ['call-1', 'call-2']) {
      const call = aCall({ id, argsSha256: id });
      run = finish(finish(run, 'think', said('', [call])), 'govern', allowed(call));
      run = step(step(run, saved()), saved());
      run = step(finish(run, 'runTool', returned('done')), saved());
    }
    expect(standing(run)).toEqual({
      value: 'failed',
      failure: {
        kind: 'turnLimit',
        text: 'the run was ended after 2 model turns without an answer; give the agent a narrower task, or raise model.max_turns',
      },
      last: ended('turns'),
    });
  });
});
