import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as factOf from '../../../src/machines/task/fact-of.ts';
import { nothingSpent } from '../../../src/machines/task/limits.ts';
import type { MintOutcome, ToolOutcome } from '../../../src/machines/task/task-events.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  aFollowUp,
  anAttempt,
  aRefusal,
  aTaskContext,
  aTaskInput,
  digest,
  minted,
  modelFailed,
  returned,
  said,
  times,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

function aContext(overrides: Partial<TaskContext> = {}): TaskContext {
  return aTaskContext({ pending: [aCall()], ...overrides });
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

describe('the input of the model in a turn', () => {
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
      'the request, in the first turn',
      { spent: { ...nothingSpent, turns: 1 } },
      { request, exchanges: [], followUps: [] },
    ],
    [
      'the new messages',
      { spent: { ...nothingSpent, turns: 2 }, said: turns, exchanges },
      { request: null, exchanges: [second], followUps: [] },
    ],
    [
      'all messages, after an older release',
      { spent: { ...nothingSpent, turns: 2 }, exchanges },
      { request: null, exchanges, followUps: [] },
    ],
  ])('is %s', (_, context, heard) => {
    expect(factOf.modelCalled(aContext(context), said('done'))).toMatchObject([
      { heard, said: { text: 'done', calls: [] } },
    ]);
  });

  it('contains calls that failed before, without their output', () => {
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

describe('the duration of a wait', () => {
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

describe('the duration of an aborted call', () => {
  it('is none before its start', () => {
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

describe('an invalid fact', () => {
  it('is refused: a tool without a call, a wait without a deferral', () => {
    expect(() => factOf.toolStarted(aContext({ pending: [] }))).toThrow(
      'no tool call is under way',
    );
    expect(() => factOf.timedOut(aContext(), 0)).toThrow('no deferral is pending');
  });
});

describe('the facts of a model turn', () => {
  const by = { provider: 'scripted', model: 'demo', duration: 12 };
  const heard = { request: aTaskInput().request, exchanges: [], followUps: [] };
  const answered = {
    type: 'model.called',
    ...by,
    inputTokens: 3,
    outputTokens: 5,
    heard,
    said: { text: 'done', calls: [] },
  };
  const compaction = { results: 1, messages: 2, turns: 3, tokensBefore: 9, tokensAfter: 4 };

  it.each([
    ['the answer', said('done'), [answered]],
    [
      'the new messages',
      { ...said('done'), compaction },
      [{ type: 'context.compacted', ...compaction }, answered],
    ],
    [
      'the failure',
      modelFailed('no quota'),
      [
        {
          type: 'model.called',
          ...by,
          inputTokens: 0,
          outputTokens: 0,
          heard,
          said: null,
          error: 'no quota',
        },
      ],
    ],
  ])('contain %s', (_, thought, facts) => {
    expect(factOf.modelCalled(aContext(), thought)).toStrictEqual(facts);
  });

  it('contain a message that arrived during the turn once, after the earlier exchanges', () => {
    const followUps = [0, 1, 2].map((after) => aFollowUp(`after ${after}`, { after }));
    const told = [0, 1].map((after) => ({ after, by, parts: [] }));
    const [fact] = factOf.modelCalled(aContext({ followUps, said: told }), said('done'));
    expect(fact).toMatchObject({ heard: { followUps: [followUps[2]?.message] } });
  });
});

describe('the fact that a run has ended', () => {
  it.each([
    [{ kind: 'model', text: 'no quota' } as const, {}],
    [{ kind: 'turnLimit', text: '' } as const, { limit: 'turns' }],
    [null, {}],
  ])('by %j names the limit, if one ended it', (failure, limit) => {
    expect(factOf.sessionFailed(aContext({ failure }))).toStrictEqual({
      type: 'session.ended',
      state: 'failed',
      ...limit,
    });
  });

  it.each([
    ['over budget', 'over budget'],
    [null, 'external_signal'],
  ])('by a cancel contains the reason: %s', (cancelReason, reason) => {
    expect(factOf.invocationCancelled(aContext({ cancelReason }))).toStrictEqual({
      type: 'invocation.cancelled',
      reason,
    });
  });
});

describe('the facts of a message', () => {
  it('contain the rules that denied it, if any', () => {
    const { findings } = aRefusal();
    const matched = { type: 'rule.matched', tool: null, ...findings[0] };
    expect(factOf.messageRefused(aRefusal())).toStrictEqual([matched]);
    expect(factOf.messageRefused(null)).toStrictEqual([]);
  });

  it('contain its size and its author', () => {
    const { message } = aFollowUp('é');
    const size = Buffer.byteLength(JSON.stringify(message));
    const sender = { provider: 'ops', userId: 'bob' };
    expect(factOf.messageReceived(message, sender)).toStrictEqual({
      type: 'message.received',
      size,
      sender,
    });
  });
});

describe('the facts of a call', () => {
  const tool = 'issue_refund';
  const ended = {
    type: 'tool.ended',
    call: { callId: 'call-1', argsSha256: digest },
    tool,
    duration: 500,
    argsSize: 11,
    resultSize: 0,
    outcome: 'succeeded',
  };
  const finding = { gate: 'redact', decision: 'redact', rule: 'redact.email' } as const;

  it.each([
    [
      'issued',
      { ...minted(), ttl: 9 },
      { type: 'credential.issued', call: { callId: 'call-1', argsSha256: digest }, ttl: 9 },
    ],
    ['refused', minted('no role'), { type: 'credential.failed' }],
  ])('name the issuer of its credentials: %s', (_, outcome, fact) => {
    expect(factOf.credentialMade(aContext(), outcome as MintOutcome)).toStrictEqual({
      ...fact,
      tool,
      provider: 'static',
    });
  });

  it.each<[string, ToolOutcome, object[]]>([
    ['its result', returned('ok'), [{ ...ended, resultSize: 2, result: 'ok' }]],
    [
      'its error',
      toolFailed('closed'),
      [{ ...ended, outcome: 'failed', error: 'failed', complaint: 'closed' }],
    ],
    [
      'an unknown outcome',
      { ...toolFailed(''), kind: 'failed', error: 'closed', failure: 'timeout', isUnknown: true },
      [{ ...ended, outcome: 'unknown', error: 'timeout', complaint: 'closed' }],
    ],
    [
      'the kind of its error',
      { ...toolFailed(''), kind: 'failed', error: 'closed', failure: 'exit code 1' },
      [{ ...ended, outcome: 'failed', error: 'exit code 1', complaint: 'closed' }],
    ],
    [
      'that it was refused',
      { ...toolFailed(''), kind: 'barred', error: 'not the one' },
      [{ ...ended, outcome: 'not_run', error: 'failed', complaint: 'not the one' }],
    ],
    ['withheld output', { ...withheld('denied'), findings: [] }, [{ ...ended, error: 'denied' }]],
    [
      'withheld output after a failure',
      { ...withheld('denied'), kind: 'withheld', error: 'denied', of: 'failed', findings: [] },
      [{ ...ended, outcome: 'failed', error: 'denied' }],
    ],
    [
      'the changes of output rules',
      { ...returned('ok'), findings: [finding], rewrites: [2] },
      [
        { ...ended, resultSize: 2, result: 'ok' },
        { type: 'rule.matched', tool, ...finding },
        { type: 'call.modified', tool, part: 'output', rules: [2] },
      ],
    ],
  ])('contain %s', (_, outcome, facts) => {
    expect(factOf.toolEnded(aContext(), outcome)).toStrictEqual(facts);
  });

  it('contain its start, and why it was aborted', () => {
    const context = aContext({ startedAt: times.began });
    expect(factOf.toolStarted(context)).toStrictEqual({
      type: 'tool.started',
      call: { callId: 'call-1', argsSha256: digest },
      tool,
      argsSize: 11,
      args: { order: 7 },
    });
    expect(factOf.toolCutOff(context, times.ended, 'canceled: timeout')).toStrictEqual([
      { ...ended, outcome: 'unknown', error: 'canceled: timeout' },
    ]);
  });
});

describe('the facts of a wait', () => {
  const tool = 'issue_refund';
  const target = 'channel:console:managers';

  it('name the reminded approvers and the escalation targets', () => {
    const context = (escalateTo: string | null) =>
      aContext({ deferral: aDeferral({ escalateTo }) });
    const wait = 28_000;
    const escalation = { type: 'deferral.escalated', tool, wait };
    expect([
      factOf.reminded(context(target), times.decided),
      factOf.escalated(context(target), times.decided),
      factOf.escalated(context(null), times.decided),
      factOf.timedOut(context(null), times.decided),
      factOf.abandoned(context(null), 'service_restart', times.decided),
    ]).toStrictEqual([
      { type: 'deferral.reminded', tool, to: 'channel:slack:#refunds', wait },
      { ...escalation, to: target },
      { ...escalation, to: '' },
      {
        type: 'deferral.timedOut',
        call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
        tool,
        timeout: 300_000,
        wait,
      },
      {
        type: 'deferral.abandoned',
        call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
        tool,
        reason: 'service_restart',
        wait,
      },
    ]);
  });

  it.each([
    ['nobody', {}, { caller: null, vouchedBy: 'asserted', method: 'none' }],
    [
      'a caller, without details',
      { caller: aCaller({ orgId: 'acme' }) },
      { caller: { provider: 'ops', userId: 'rita' }, vouchedBy: 'asserted', method: 'token' },
    ],
    [
      'the operator',
      { caller: aCaller({ provider: 'runtime' }) },
      {
        caller: { provider: 'runtime', userId: 'rita' },
        vouchedBy: 'asserted',
        method: 'runtime_token',
      },
    ],
    [
      'a person who signed in to the approvals page',
      { caller: aCaller(), signedInAt: 'page' as const },
      { caller: { provider: 'ops', userId: 'rita' }, vouchedBy: 'asserted', method: 'oidc' },
    ],
    [
      'a chat',
      { source: 'slack' },
      { caller: null, source: 'slack', vouchedBy: 'chat:slack', method: 'chat' },
    ],
  ])('contain the decision and the proof of the approver: %s', (_, more, expected) => {
    const attempt = anAttempt({ verb: 'reject', note: ' no receipt ', ...more });
    const context = aContext({ deferral: aDeferral() });
    for (const type of ['deferral.decided', 'deferral.refused'] as const) {
      expect(factOf.decision(type, context, attempt)).toStrictEqual({
        type,
        call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
        tool,
        decision: 'reject',
        approver: 'Ann',
        note: 'no receipt',
        wait: 28_000,
        ...expected,
      });
    }
  });
});
