import { describe, expect, it } from 'vitest';
import type { TaskFact } from '../../../src/machines/domain/facts.ts';
import type { Ruling } from '../../../src/machines/governance/ruling.ts';
import { begin, finish, restingStates, seen, step } from '../../helpers/step-task.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  allowed,
  aTaskInput,
  deferred,
  digest,
  modelFailed,
  said,
  times,
} from '../../helpers/task-fixtures.ts';

const { thinking, governing, completed, failed, canceled } = restingStates;

const modelCalled = {
  type: 'model.called',
  provider: 'scripted',
  model: 'demo',
  duration: 12,
  inputTokens: 3,
  outputTokens: 5,
  heard: { request: aTaskInput().request, exchanges: [], followUps: [] },
} as const;

describe('an accepted task', () => {
  it('is submitted and at once working, with the first model turn requested', () => {
    const { request } = aTaskInput();
    expect(seen(begin())).toEqual({
      value: { working: 'thinking' },
      tags: ['working'],
      effects: [
        ['note', { type: 'session.started', requester: aCaller() }],
        [
          'start',
          'think',
          {
            taskId: 'task-1',
            correlationId: 'correlation-1',
            history: [],
            request,
            exchanges: [],
            said: [],
            followUps: [],
            ran: [],
            turns: 0,
            told: 0,
            tokensPerEstimate: 1,
          },
        ],
      ],
    });
  });

  it('starts a new run with the messages and the decision of earlier runs', () => {
    const history = [aTaskInput().request];
    const settled = {
      id: 'call-0',
      tool: 'issue_refund',
      argsSha256: digest,
      decision: 'approve',
      approver: 'Ann',
      note: '',
      decidedAt: 500,
    } as const;
    const { snapshot } = begin({ history, settled });
    expect(snapshot.context).toMatchObject({
      run: { history },
      settled,
      spent: { turns: 1 },
      now: times.created,
    });
  });
});

describe('a working task', () => {
  it('completes with the answer when the agent finishes', () => {
    const answered = finish(thinking(), 'think', said('refunded'));
    expect(seen(answered)).toEqual({
      value: 'completed',
      tags: ['completed', 'final'],
      effects: [
        ['stop', 'think'],
        ['note', { ...modelCalled, said: { text: 'refunded', calls: [] } }],
        ['note', { type: 'session.ended', state: 'completed' }],
      ],
    });
    expect(answered.snapshot.context.answer).toEqual([{ kind: 'text', text: 'refunded' }]);
    expect(answered.snapshot.status).toBe('done');
  });

  it('passes the first call to governance when the model requests tools', () => {
    const calls = [aCall(), aCall({ id: 'call-2', tool: 'look_up' })];
    const asked = governing(calls);
    expect(seen(asked)).toEqual({
      value: { working: 'governing' },
      tags: ['working'],
      effects: [
        ['stop', 'think'],
        ['note', { ...modelCalled, said: { text: '', calls } }],
        [
          'start',
          'govern',
          {
            taskId: 'task-1',
            call: aCall(),
            request: aTaskInput().request,
            requester: aCaller(),
            speakers: [],
            task: { session: 'context-1', surface: 'legacy', tags: {} },
            scores: [],
            held: null,
            ran: [],
            now: times.thought,
          },
        ],
      ],
    });
    expect(asked.snapshot.context).toMatchObject({ pending: calls, now: times.thought });
  });

  it('is deferred when the tool call needs approval', () => {
    const parked = finish(governing(), 'govern', deferred());
    expect(seen(parked)).toEqual({
      value: { deferred: 'asked' },
      tags: ['deferred', 'asked'],
      effects: [
        ['stop', 'govern'],
        ['note', { type: 'deferral.opened', deferral: aDeferral(), requester: null }],
      ],
    });
    expect(parked.snapshot.context).toMatchObject({ deferral: aDeferral(), settled: null });
  });

  it('runs the call when every layer allows it', () => {
    expect(seen(finish(governing(), 'govern', allowed()))).toEqual({
      value: { working: { executing: { calling: 'starting' } } },
      tags: ['working', 'saving'],
      effects: [
        ['stop', 'govern'],
        [
          'note',
          {
            type: 'tool.started',
            call: { callId: 'call-1', argsSha256: digest },
            tool: 'issue_refund',
            argsSize: 11,
            args: { order: 7 },
          },
        ],
      ],
    });
  });

  it('runs the call as governance rewrote it', () => {
    const rewritten = aCall({ args: { order: 8 }, argsSha256: 'b2'.repeat(32) });
    const calls = [aCall(), aCall({ id: 'call-2' })];
    const { snapshot } = finish(governing(calls), 'govern', allowed(rewritten));
    expect(snapshot.context.pending).toEqual([rewritten, aCall({ id: 'call-2' })]);
  });
});

describe('a working task that fails', () => {
  it('has the text of the model error', () => {
    const broken = finish(thinking(), 'think', modelFailed('the model has no quota left'));
    expect(seen(broken)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ['stop', 'think'],
        [
          'note',
          {
            ...modelCalled,
            inputTokens: 0,
            outputTokens: 0,
            said: null,
            error: 'the model has no quota left',
          },
        ],
        ['note', { type: 'session.ended', state: 'failed' }],
      ],
    });
    expect(broken.snapshot.context.failure).toEqual({
      kind: 'model',
      text: 'the model has no quota left',
    });
  });

  it('has the text of a DENY', () => {
    const record = { callId: 'call-1', tool: 'issue_refund', layer: 'alignment' } as const;
    const records = [{ ...record, decision: 'deny', reason: 'unknown tool', duration: 1 } as const];
    const fact: TaskFact = {
      type: 'rule.matched',
      gate: 'tool',
      decision: 'deny',
      tool: 'issue_refund',
      rule: 'unknown tool',
    };
    const ruling: Ruling = {
      kind: 'deny',
      layer: 'alignment',
      text: 'unknown tool',
      records,
      facts: [fact],
      score: null,
    };
    const denied = finish(governing(), 'govern', ruling);
    expect(seen(denied)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ['stop', 'govern'],
        ['note', fact],
        ['note', { type: 'session.ended', state: 'failed' }],
      ],
    });
    expect(denied.snapshot.context).toMatchObject({
      failure: { kind: 'denied', text: 'unknown tool', tool: 'issue_refund', layer: 'alignment' },
      records,
      pending: [],
    });
  });

  it.each([
    [aCaller({ acr: 'bronze' }), 'bronze'],
    [aCaller(), null],
    [null, null],
  ])('has an unmet step-up of requester %#, with the presented level', (requester, acr) => {
    const text = 'no acr claim presented';
    const fact: TaskFact = {
      type: 'stepUp.required',
      tool: 'issue_refund',
      requiredAcr: 'gold',
      presentedAcr: acr,
      reason: text,
    };
    const ruling: Ruling = {
      kind: 'stepUp',
      requiredAcr: 'gold',
      text,
      records: [],
      facts: [fact],
      score: null,
    };
    const asked = finish(begin({ requester }), 'think', said('', [aCall()]));
    const challenged = finish(asked, 'govern', ruling);
    expect(seen(challenged)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ['stop', 'govern'],
        ['note', fact],
        ['note', { type: 'session.ended', state: 'failed' }],
      ],
    });
    expect(challenged.snapshot.context.failure).toEqual({
      kind: 'stepUp',
      tool: 'issue_refund',
      text: 'step-up required for issue_refund: needs acr "gold"; no acr claim presented',
      requiredAcr: 'gold',
      presentedAcr: acr,
      reason: text,
    });
  });
});

describe('a working task that is canceled or interrupted', () => {
  it.each([
    ['thinking', thinking, 'think'],
    ['governing', governing, 'govern'],
    ['recording', restingStates.recording, null],
  ] as const)('is canceled while %s, and the active port is stopped', (_, from, port) => {
    const reason = 'cost_limit_exceeded';
    const off = step(from(), { type: 'task.cancel', reason, at: times.ended });
    expect(seen(off)).toEqual({
      value: 'canceled',
      tags: ['canceled', 'final'],
      effects: [
        ...(port === null ? [] : [['stop', port]]),
        ['note', { type: 'invocation.cancelled', reason }],
        ['note', { type: 'session.ended', state: 'canceled' }],
      ],
    });
    expect(off.snapshot.context).toMatchObject({ cancelReason: reason, pending: [] });
  });

  it.each([
    ['thinking', thinking, 'think'],
    ['governing', governing, 'govern'],
    ['recording', restingStates.recording, null],
  ] as const)('fails as interrupted by a restart while %s', (_, from, port) => {
    const interrupted = step(from(), { type: 'service.restarted', at: times.ended });
    expect(seen(interrupted)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ...(port === null ? [] : [['stop', port]]),
        ['note', { type: 'session.ended', state: 'failed' }],
      ],
    });
    expect(interrupted.snapshot.context.failure).toEqual({
      kind: 'interrupted',
      text: 'interrupted by service restart',
    });
  });
});

describe('an ended task', () => {
  it.each([
    ['completed', completed],
    ['failed', failed],
    ['canceled', canceled],
  ] as const)('stays %s after a cancel, a disconnect, a restart or a deadline', (_, from) => {
    const ended = from();
    const before = ended.snapshot.toJSON();
    for (const event of [
      { type: 'task.cancel', reason: 'timeout', at: times.ended },
      { type: 'caller.left', at: times.ended },
      { type: 'service.restarted', at: times.ended },
      { type: 'deadline.reached', at: times.expired },
    ] as const) {
      const after = step(ended, event);
      expect(after.effects).toEqual([]);
      expect(after.snapshot.toJSON()).toEqual(before);
    }
  });
});
