import { describe, expect, it } from 'vitest';
import type { Exchange, ToolCall } from '../../../src/machines/domain/task.ts';
import type { Ruling } from '../../../src/machines/governance/ruling.ts';
import * as failureOf from '../../../src/machines/task/failure-of.ts';
import { defaultLimits, nothingSpent, type TaskLimits } from '../../../src/machines/task/limits.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  allowed,
  aRefusal,
  aSettledDeferral,
  aTaskContext,
  deferred,
  minted,
  modelFailed,
  returned,
  said,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

const ended = (call: Partial<ToolCall> = {}, result = 'done'): Exchange => ({
  call: aCall(call),
  result,
});

const limited = (limits: Partial<TaskLimits>, more: Partial<TaskContext> = {}): TaskContext => {
  const context = aTaskContext(more);
  return { ...context, run: { ...context.run, limits: { ...defaultLimits, ...limits } } };
};

describe('the failure of a run that keeps requesting tools', () => {
  const [pay, payMore, lookUp] = [{}, { argsSha256: 'b2' }, { tool: 'look_up' }];
  const advice = '; give the agent a narrower task, or raise model.max_turns';

  it.each([
    ['one turn', 1, [], '1 model turn without an answer'],
    ['two turns', 2, [], '2 model turns without an answer'],
    ['two calls of one kind', 2, [pay, pay], '2 model turns without an answer'],
    [
      'three of one kind',
      3,
      [pay, pay, pay],
      '3 model turns without an answer, and its last 3 calls were the same one of issue_refund',
    ],
    [
      'four of one kind after two others',
      9,
      [lookUp, payMore, pay, pay, pay, pay],
      '9 model turns without an answer, and its last 4 calls were the same one of issue_refund',
    ],
    [
      'other arguments before the last two',
      3,
      [payMore, pay, pay],
      '3 model turns without an answer',
    ],
    ['another tool before the last two', 3, [lookUp, pay, pay], '3 model turns without an answer'],
    [
      'the last call with other arguments',
      3,
      [pay, pay, payMore],
      '3 model turns without an answer',
    ],
    ['the last call of another tool', 3, [pay, pay, lookUp], '3 model turns without an answer'],
  ])('states the number of turns and whether the calls repeat: %s', (_, turns, calls, took) => {
    const context = limited({ turns }, { exchanges: calls.map((call) => ended(call)) });
    expect(failureOf.tooManyTurns(context)).toStrictEqual({
      kind: 'turnLimit',
      text: `the run was ended after ${took}${advice}`,
    });
  });
});

describe('the failure of a run with only errors', () => {
  it.each([
    ['one turn', 1, [ended({}, 'closed')], '1 model turn whose', 'closed'],
    ['two turns', 2, [ended(), ended({}, 'shut')], '2 model turns in a row whose', 'shut'],
    [
      'a long error',
      2,
      [ended({}, 'é'.repeat(501))],
      '2 model turns in a row whose',
      'é'.repeat(500),
    ],
    ['no call', 2, [], '2 model turns in a row whose', ''],
  ])(
    'states the number of turns, and the last error up to its limit: %s',
    (_, turns, exchanges, took, last) => {
      expect(failureOf.tooManyErrors(limited({ failedTurns: turns }, { exchanges }))).toStrictEqual(
        {
          kind: 'errorLimit',
          text: `the run was ended after ${took} calls all failed, the last one with: ${last}`,
        },
      );
    },
  );
});

describe('the failure of a run that reached a limit', () => {
  const usage = { model: 'demo', inputTokens: 7, outputTokens: 5, duration: 0 };
  const spent = { ...nothingSpent, usage, time: 90_000 };
  const tokenLimit = {
    kind: 'tokenLimit',
    text: 'the run was ended after 12 tokens, where it may use 10; give the agent a narrower task, or raise model.max_tokens_per_task',
  };
  const timeLimit = {
    kind: 'timeLimit',
    text: 'the run was ended after 1m30s of work; give the agent a narrower task, or raise model.max_time',
  };

  it.each([
    ['tokens', { tokens: 10 }, tokenLimit],
    ['time', { time: 90_000 }, timeLimit],
    ['tokens, where both are reached', { tokens: 10, time: 90_000 }, tokenLimit],
    ['time, where tokens are left', { tokens: 13, time: 90_000 }, timeLimit],
  ])('names the limit: %s', (_, limits, failure) => {
    expect(failureOf.overspent(limited(limits, { spent }))).toStrictEqual(failure);
  });

  it('names time while a call is still running', () => {
    expect(failureOf.outOfTime(limited({ time: 90_000 }))).toStrictEqual(timeLimit);
  });

  it('is none without limits', () => {
    const sentence = 'the run has no limit of time';
    expect(() => failureOf.overspent(limited({}, { spent }))).toThrow(sentence);
    expect(() => failureOf.outOfTime(limited({}))).toThrow(sentence);
  });
});

describe('the failure of a model', () => {
  it.each([
    [modelFailed('no quota'), 'no quota'],
    [said('hello'), ''],
  ])('is its error text', (thought, text) => {
    expect(failureOf.ofModel(aTaskContext(), thought)).toStrictEqual({ kind: 'model', text });
  });
});

describe('the failure of a call that governance stops', () => {
  const pending = [aCall()];
  const told = { records: [], facts: [], score: null };
  const stepUp: Ruling = { kind: 'stepUp', requiredAcr: 'gold', text: 'no acr claim', ...told };
  const tool = 'issue_refund';

  it.each(['deny', 'misfit'] as const)('names the layer that stopped it: %s', (kind) => {
    const ruling: Ruling = { kind, layer: 'modify', text: 'not so', ...told };
    expect(failureOf.ofRuling(aTaskContext({ pending }), ruling)).toStrictEqual({
      kind: 'denied',
      text: 'not so',
      tool,
      layer: 'modify',
    });
  });

  it.each([
    ['none', null, null],
    ['none', aCaller(), null],
    ['silver', aCaller({ acr: 'silver' }), 'silver'],
  ])('names the missing level, and that %s was presented', (_, requester, presentedAcr) => {
    const { run } = aTaskContext();
    const context = aTaskContext({ pending, run: { ...run, requester } });
    expect(failureOf.ofRuling(context, stepUp)).toStrictEqual({
      kind: 'stepUp',
      text: 'step-up required for issue_refund: needs acr "gold"; no acr claim',
      tool,
      requiredAcr: 'gold',
      presentedAcr,
      reason: 'no acr claim',
    });
  });

  it.each([allowed(), deferred()])('is none for a ruling that allows the call', (ruling) => {
    expect(() => failureOf.ofRuling(aTaskContext({ pending }), ruling)).toThrow(
      `the ruling "${ruling.kind}" is no failure`,
    );
  });
});

describe('the failure of a stopped step', () => {
  const tool = 'issue_refund';

  it.each([
    [
      'a message, with the text of the rule',
      failureOf.ofPrompt(aRefusal('denied by guardrail: no')),
      { kind: 'denied', tool: null, layer: 'prompt', text: 'denied by guardrail: no' },
    ],
    [
      'a message that was not denied',
      failureOf.ofPrompt(null),
      { kind: 'denied', tool: null, layer: 'prompt', text: '' },
    ],
    [
      'a call without its credentials',
      failureOf.ofMint(aCall(), minted('no role')),
      { kind: 'denied', tool, layer: 'credentials', text: 'no role' },
    ],
    [
      'a call that has them',
      failureOf.ofMint(aCall(), minted()),
      { kind: 'denied', tool, layer: 'credentials', text: '' },
    ],
    [
      'output that is withheld',
      failureOf.ofTool(aCall(), withheld('denied by guardrail: no')),
      { kind: 'denied', tool, layer: 'output', text: 'denied by guardrail: no' },
    ],
    [
      'a tool, with its error text',
      failureOf.ofTool(aCall(), toolFailed('closed')),
      { kind: 'tool', tool, text: 'closed' },
    ],
    [
      'a refused call',
      failureOf.ofTool(aCall(), { ...toolFailed(''), kind: 'barred', error: 'not the one' }),
      { kind: 'tool', tool, text: 'not the one' },
    ],
    [
      'a tool that returned, without its result',
      failureOf.ofTool(aCall(), returned('secret')),
      { kind: 'tool', tool, text: '' },
    ],
    [
      'a call with an unknown outcome',
      failureOf.outcomeUnknown(aCall()),
      {
        kind: 'interrupted',
        text: 'interrupted by service restart: issue_refund had started and its outcome is unknown',
      },
    ],
  ])('is described: %s', (_, failure, expected) => {
    expect(failure).toStrictEqual(expected);
  });
});

describe('the failure of a wait', () => {
  const tool = 'issue_refund';
  const waiting = aTaskContext({ deferral: aDeferral() });
  const settledBy = (note: string) =>
    aTaskContext({ settled: aSettledDeferral({ decision: 'reject', note }) });

  it.each([
    [
      'a rejection',
      failureOf.rejected(settledBy('')),
      { kind: 'rejected', tool, text: 'defer: rejected by Ann' },
    ],
    [
      'a rejection with a note',
      failureOf.rejected(settledBy('no receipt')),
      { kind: 'rejected', tool, text: 'defer: rejected by Ann: no receipt' },
    ],
    [
      'a timeout',
      failureOf.timedOut(waiting),
      { kind: 'timedOut', tool, text: 'defer: no decision within 5m0s (auto-deny)' },
    ],
    [
      'a restart',
      failureOf.abandoned(waiting, 'service_restart'),
      { kind: 'abandoned', tool, text: 'defer: abandoned by service restart' },
    ],
    [
      'a disconnected caller',
      failureOf.abandoned(waiting, 'caller_disconnected'),
      { kind: 'abandoned', tool, text: 'defer: abandoned, caller disconnected' },
    ],
  ])('is described: %s', (_, failure, expected) => {
    expect(failure).toStrictEqual(expected);
  });

  it('is no rejection before a decision was recorded', () => {
    expect(() => failureOf.rejected(aTaskContext())).toThrow('no decision was recorded');
  });
});

describe('the failure of a task without a reason in its chart', () => {
  it('points to the audit log', () => {
    const { interrupted, outcomeInLog, unreadable, crashed } = failureOf;
    expect([interrupted, outcomeInLog, unreadable, crashed]).toStrictEqual([
      { kind: 'interrupted', text: 'interrupted by service restart' },
      {
        kind: 'interrupted',
        text: 'interrupted: the outcome is only in the audit log',
      },
      {
        kind: 'internal',
        text: 'the record of this task is damaged; its outcome is only in the audit log',
      },
      { kind: 'internal', text: 'the task failed inside the service; its log says why' },
    ]);
  });
});
