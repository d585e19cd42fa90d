import { describe, expect, it } from 'vitest';
import { nothingSpent } from '../../../src/machines/task/limits.ts';
import {
  approvedDigest,
  currentCall,
  endCall,
  initialContext,
  mintInput,
  newTask,
  pendingDeferral,
} from '../../../src/machines/task/task-input.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  aSettledDeferral,
  aTaskContext,
  aTaskInput,
  digest,
  times,
} from '../../helpers/task-fixtures.ts';

const { request } = aTaskInput();

describe('the first task of a session', () => {
  const asked = { id: 'task-1', request, requester: aCaller(), createdAt: times.created };
  const plain = {
    ...asked,
    contextId: 'task-1',
    correlationId: 'task-1',
    tags: {},
    trace: null,
    surface: 'legacy',
    session: [],
    history: [],
    leftOut: 0,
    ran: [],
    hasModel: true,
    limits: { turns: 50, failedTurns: 5, tokens: null, time: null },
    onToolError: 'fail',
    settled: null,
  };

  it('has its own context, the default limits, and ends at an error', () => {
    expect(newTask(asked)).toStrictEqual(plain);
  });

  it('uses the values of the request instead of the defaults', () => {
    const more = {
      contextId: 'context-1',
      correlationId: 'correlation-1',
      tags: { workflow_id: 'w-1' },
      trace: 'traceparent',
      surface: 'a2a',
      session: [request],
      history: [request],
      leftOut: 3,
      hasModel: false,
      limits: { turns: 1, failedTurns: 1, tokens: 1, time: 1 },
      onToolError: 'return',
      settled: aSettledDeferral(),
    } as const;
    const calls = [{ tool: 'pay', args: { order: 7 } }];
    const lists = { session: [request], history: [request], ran: [], calls };
    expect(newTask({ ...asked, ...more, ...lists })).toStrictEqual({ ...asked, ...more, ...lists });
  });
});

describe('the initial context of a task', () => {
  it('contains the request, and the last decision of earlier runs', () => {
    const settled = aSettledDeferral();
    const { settled: _, ...run } = aTaskInput();
    expect(initialContext(aTaskInput({ settled }))).toStrictEqual({
      run,
      pending: [],
      exchanges: [],
      followUps: [],
      said: [],
      spent: nothingSpent,
      now: times.created,
      startedAt: null,
      deferral: null,
      settled,
      held: null,
      credential: null,
      scores: [],
      records: [],
      answer: null,
      failure: null,
      cancelReason: null,
    });
  });

  it('contains the stored extras of earlier runs', () => {
    const history = Array.from({ length: 201 }, (_, index) => ({
      ...request,
      messageId: `earlier-${index}`,
    }));
    const { run } = initialContext(aTaskInput({ history, leftOut: 4 }));
    expect(run).toMatchObject({ history: history.slice(2), leftOut: 6, request });
  });
});

describe('a value read in a state that has none', () => {
  it.each([
    ['the running call', currentCall, 'no tool call is under way'],
    ['the deferral that waits', pendingDeferral, 'no deferral is pending'],
    ['the credentials of a call', mintInput, 'the call needs no credentials'],
  ] as const)('throws: %s', (_, read, sentence) => {
    expect(() => read(aTaskContext())).toThrow(sentence);
  });

  it('is returned in the other states', () => {
    const [call, deferral] = [aCall(), aDeferral()];
    const context = aTaskContext({
      pending: [call, aCall({ id: 'call-2' })],
      deferral,
      credential: 'static',
    });
    expect([currentCall(context), pendingDeferral(context), mintInput(context)]).toStrictEqual([
      call,
      deferral,
      { taskId: 'task-1', call, provider: 'static' },
    ]);
  });
});

describe('the end of a call', () => {
  const [first, second] = [aCall(), aCall({ id: 'call-2' })];
  const earlier = { call: aCall({ id: 'call-0' }), result: 'found' };
  const context = aTaskContext({
    pending: [first, second],
    exchanges: [earlier],
    startedAt: times.began,
  });

  it.each([
    ['a result', { result: 'paid' }],
    ['an error', { result: 'the bank is closed', failed: true }],
  ] as const)('adds %s after those before, and starts the next call', (_, end) => {
    expect(endCall(context, { ...end, at: times.ended })).toStrictEqual({
      exchanges: [earlier, { call: first, ...end }],
      pending: [second],
      startedAt: null,
      held: null,
      now: times.ended,
    });
  });

  it('contains the note of its approver, for the model', () => {
    const held = { deferral: aDeferral({ id: 'call-1' }), isReleased: true };
    const approvalWith = (note: string) => {
      const settled = aSettledDeferral({ approver: 'Ann', note });
      const { exchanges } = endCall({ ...context, held, settled }, { result: 'paid', at: 1 });
      return exchanges?.at(-1)?.approval;
    };
    expect(approvalWith('ask finance first next time')).toStrictEqual({
      approver: 'Ann',
      note: 'ask finance first next time',
    });
    expect(approvalWith('')).toBe(undefined);
  });

  it("drops the model's arguments from before MODIFY", () => {
    const asked = aTaskContext({ pending: [{ ...first, asked: { order: 9 } }] });
    const { exchanges } = endCall(asked, { result: 'paid', at: times.ended });
    expect(exchanges).toStrictEqual([{ call: first, result: 'paid' }]);
  });
});

describe('the digest that binds a call to its release', () => {
  const pending = [aCall()];
  const heldAs = (id: string, isReleased: boolean) => ({ deferral: aDeferral({ id }), isReleased });

  it.each([
    ['is that of the deferral', heldAs('call-1', true), digest],
    ['is none for a call other than the released one', heldAs('call-0', true), null],
    ['is none where no approval was needed', null, null],
    ['is none while the call is ruled on before a release', heldAs('call-1', false), null],
  ])('%s', (_, held, expected) => {
    expect(approvedDigest(aTaskContext({ pending, held }))).toBe(expected);
  });
});
