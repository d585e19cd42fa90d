import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as factOf from '../../../src/machines/task/fact-of.ts';
import { nothingSpent } from '../../../src/machines/task/limits.ts';
import { initialContext, type TaskContext } from '../../../src/machines/task/task-input.ts';
import {
  aCall,
  aDeferral,
  anAttempt,
  aTaskInput,
  returned,
  said,
  times,
} from '../../helpers/task-fixtures.ts';

function aContext(overrides: Partial<TaskContext> = {}): TaskContext {
  return { ...initialContext(aTaskInput()), pending: [aCall()], ...overrides };
}

describe('the sizes of a tool call', () => {
  it('are bytes of UTF-8', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (note, result) => {
        const args = { note };
        const context = aContext({ pending: [aCall({ args })] });
        const argsSize = Buffer.byteLength(JSON.stringify(args));
        expect(factOf.toolStarted(context)).toMatchObject({ argsSize });
        expect(factOf.toolEnded(context, returned(result))).toMatchObject([
          { argsSize, resultSize: Buffer.byteLength(result) },
        ]);
      }),
    );
  });
});

describe('the size of a result', () => {
  it.each([
    ['', 0],
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\uffff', 3],
    ['\u{10000}', 4],
  ])('of %j is %d', (result, resultSize) => {
    expect(factOf.toolEnded(aContext(), returned(result))).toMatchObject([{ resultSize }]);
  });
});

describe('what the model heard in a turn', () => {
  const [first, second] = [aCall(), aCall({ id: 'call-2' })].map((call) => ({
    call,
    result: 'ok',
  }));
  const exchanges = [first!, second!];
  const { request } = aTaskInput();
  const by = { provider: 'scripted', model: 'demo' };
  const turns = [0, 1].map((after) => ({ after, by, parts: [] }));

  it.each<[string, Partial<TaskContext>, object]>([
    [
      'the request, at first',
      { spent: { ...nothingSpent, turns: 1 } },
      { request, exchanges: [], followUps: [] },
    ],
    [
      'what came since',
      { spent: { ...nothingSpent, turns: 2 }, said: turns, exchanges },
      { request: null, exchanges: [second], followUps: [] },
    ],
    [
      'all of it, after an older release',
      { spent: { ...nothingSpent, turns: 2 }, exchanges },
      { request: null, exchanges, followUps: [] },
    ],
  ])('is %s', (_, context, heard) => {
    expect(factOf.modelCalled(aContext(context), said('done'))).toMatchObject([
      { heard, said: { text: 'done', calls: [] } },
    ]);
  });

  it('is told of the calls that failed before, too, with nothing of what was said in them', () => {
    const failed = { provider: 'openai', model: 'gpt', duration: 3, error: 'it is busy' };
    const thought = { ...said('done'), failedCalls: [failed] };
    const [first, last] = factOf.modelCalled(aContext({}), thought);
    expect(first).toEqual({
      ...failed,
      type: 'model.called',
      inputTokens: 0,
      outputTokens: 0,
      heard: { request: null, exchanges: [], followUps: [] },
      said: null,
    });
    expect(last).toMatchObject({ model: 'demo', said: { text: 'done' } });
  });
});

describe('the length of a wait', () => {
  it.each([
    [times.thought, 0],
    [times.thought + 1, 1],
    [times.thought + 0.6, 1],
    [times.thought - 500, 0],
  ])('until %d is %d ms, never negative', (at, wait) => {
    const context = aContext({ deferral: aDeferral() });
    expect(factOf.timedOut(context, at)).toMatchObject({ wait });
    expect(factOf.abandoned(context, 'canceled', at)).toMatchObject({ wait });
    expect(factOf.decision('deferral.decided', context, anAttempt({ at }))).toMatchObject({ wait });
  });
});

describe('the duration of a call that was cut off', () => {
  it('is that of none while it has not started', () => {
    expect(factOf.toolCutOff(aContext(), times.ended, 'canceled')).toEqual([]);
  });

  it.each([
    [0, times.ended, 0],
    [times.began, times.ended, 500],
    [times.ended, times.began, 0],
  ])('from %d to %d is %d ms', (startedAt, at, duration) => {
    expect(factOf.toolCutOff(aContext({ startedAt }), at, 'canceled')).toMatchObject([
      { duration },
    ]);
  });
});

describe('a fact that cannot be', () => {
  it('is refused: a tool without a call, a wait without a deferral', () => {
    expect(() => factOf.toolStarted(aContext({ pending: [] }))).toThrow(
      'no tool call is under way',
    );
    expect(() => factOf.timedOut(aContext(), 0)).toThrow('no deferral is pending');
  });
});
