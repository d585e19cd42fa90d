import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../src/machines/task/limits.ts';
import { finish, released, restingStates, type Step, seen, step } from '../../helpers/step-task.ts';
import {
  aCall,
  allowed,
  digest,
  returned,
  said,
  saved,
  times,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

const { governing, starting, running, recording } = restingStates;

const toolEnded = {
  type: 'tool.ended',
  call: { callId: 'call-1', argsSha256: digest },
  tool: 'issue_refund',
  duration: 500,
  argsSize: 11,
  resultSize: 0,
  outcome: 'unknown',
} as const;

const outputRecord = {
  callId: 'call-1',
  tool: 'issue_refund',
  layer: 'output',
  duration: 0.5,
} as const;

const dropped = ['dropCredential', 'call-1'];
const failedEnd = ['note', { type: 'session.ended', state: 'failed' }];

describe('a call whose start is being recorded', () => {
  it.each(['first', 'repeatable'] as const)('runs when its start is the %s', (standing) => {
    const begun = step(starting(), saved(standing));
    expect(seen(begun)).toEqual({
      value: { working: { executing: { calling: 'running' } } },
      tags: ['working'],
      effects: [
        [
          'start',
          'runTool',
          {
            taskId: 'task-1',
            correlationId: 'correlation-1',
            tags: {},
            call: aCall(),
            approvedSha256: null,
            needsCredential: false,
          },
        ],
      ],
    });
    expect(begun.snapshot.context.startedAt).toBe(times.began);
  });

  it('is bound to the approved digest', () => {
    const begun = step(released(restingStates.asked()), saved());
    expect(begun.effects.at(-1)).toMatchObject(['start', 'runTool', { approvedSha256: digest }]);
  });

  it('does not run again when its outcome is unknown', () => {
    const unknown = step(starting(), saved('unknown'));
    const text =
      'interrupted by service restart: issue_refund had started and its outcome is unknown';
    expect(seen(unknown)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [dropped, ['note', { ...toolEnded, duration: 0, error: text }], failedEnd],
    });
    expect(unknown.snapshot.context.failure).toEqual({ kind: 'interrupted', text });
  });
});

describe('a running call', () => {
  it('has its result stored and its end recorded', () => {
    const ended = finish(running(), 'runTool', returned('güt'));
    expect(seen(ended)).toEqual({
      value: { working: { executing: 'recording' } },
      tags: ['working', 'saving'],
      effects: [
        ['stop', 'runTool'],
        dropped,
        ['note', { ...toolEnded, outcome: 'succeeded', resultSize: 4, result: 'güt' }],
      ],
    });
    expect(ended.snapshot.context).toMatchObject({
      exchanges: [{ call: aCall(), result: 'güt' }],
      pending: [],
      startedAt: null,
      now: times.ended,
    });
  });

  it('reports the effect of the output rules after its end', () => {
    const outcome = {
      ...returned('[redacted]'),
      findings: [{ gate: 'redact', decision: 'redact', rule: 'redact.email' } as const],
      rewrites: [2],
    };
    const ended = finish(running(), 'runTool', outcome);
    expect(ended.effects.filter(([kind]) => kind === 'note')).toEqual([
      ['note', { ...toolEnded, outcome: 'succeeded', resultSize: 10, result: '[redacted]' }],
      [
        'note',
        {
          type: 'rule.matched',
          gate: 'redact',
          decision: 'redact',
          tool: 'issue_refund',
          rule: 'redact.email',
        },
      ],
      ['note', { type: 'call.modified', tool: 'issue_refund', part: 'output', rules: [2] }],
    ]);
    expect(ended.snapshot.context.records).toEqual([
      {
        ...outputRecord,
        decision: 'modify',
        reason: 'rewritten by redact.email, modify output 2',
      },
    ]);
    expect(finish(running(), 'runTool', returned('ok')).snapshot.context.records).toEqual([
      { ...outputRecord, decision: 'allow', reason: 'no rule changes it' },
    ]);
  });

  it('fails the task when its output is blocked, and stores none of it', () => {
    const text = 'denied by guardrail: secret';
    const blocked = finish(running(), 'runTool', withheld(text));
    expect(blocked.effects).toEqual([
      ['stop', 'runTool'],
      dropped,
      ['note', { ...toolEnded, outcome: 'succeeded', error: text }],
      [
        'note',
        {
          type: 'rule.matched',
          gate: 'deny_output',
          decision: 'block',
          tool: 'issue_refund',
          rule: 'deny_output[0]',
        },
      ],
      failedEnd,
    ]);
    expect(blocked.snapshot.context).toMatchObject({
      failure: { kind: 'denied', tool: 'issue_refund', layer: 'output', text },
      exchanges: [],
      records: [{ ...outputRecord, decision: 'deny', reason: text }],
    });
  });

  it('fails the task with the text of the tool error, and stores the error kind separately', () => {
    const outcome = { ...toolFailed('the bank is closed'), failure: 'exit code 1' };
    const broken = finish(running(), 'runTool', outcome);
    expect(seen(broken)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ['stop', 'runTool'],
        dropped,
        [
          'note',
          {
            ...toolEnded,
            outcome: 'failed',
            error: 'exit code 1',
            complaint: 'the bank is closed',
          },
        ],
        failedEnd,
      ],
    });
    expect(broken.snapshot.context).toMatchObject({
      failure: { kind: 'tool', tool: 'issue_refund', text: 'the bank is closed' },
      exchanges: [],
      pending: [],
    });
  });

  it.each([
    ['starting', starting, null, 0],
    ['running', running, 'runTool', 500],
  ] as const)('is aborted by a cancel while %s', (_, from, port, duration) => {
    const event = { type: 'task.cancel', reason: 'timeout', at: times.ended } as const;
    expect(seen(step(from(), event))).toEqual({
      value: 'canceled',
      tags: ['canceled', 'final'],
      effects: [
        ...(port === null ? [] : [['stop', port]]),
        dropped,
        ['note', { ...toolEnded, duration, error: 'canceled: timeout' }],
        ['note', { type: 'invocation.cancelled', reason: 'timeout' }],
        ['note', { type: 'session.ended', state: 'canceled' }],
      ],
    });
  });

  it.each([
    ['starting', starting, null, 0],
    ['running', running, 'runTool', 500],
  ] as const)('is aborted by a restart while %s', (_, from, port, duration) => {
    const cut = step(from(), { type: 'service.restarted', at: times.ended });
    expect(seen(cut)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ...(port === null ? [] : [['stop', port]]),
        dropped,
        ['note', { ...toolEnded, duration, error: 'interrupted by service restart' }],
        failedEnd,
      ],
    });
    expect(cut.snapshot.context.failure).toEqual({
      kind: 'interrupted',
      text: 'interrupted by service restart',
    });
  });
});

describe('a call whose end is stored', () => {
  it('is followed by the next call of the turn, counted from its end', () => {
    const second = aCall({ id: 'call-2', tool: 'look_up' });
    const first = finish(governing([aCall(), second]), 'govern', allowed());
    const begun = step(first, saved());
    const next = step(finish(begun, 'runTool', returned('done')), saved());
    expect(seen(next)).toMatchObject({
      value: { working: 'governing' },
      effects: [['start', 'govern', { call: second, now: times.ended }]],
    });
    expect(next.snapshot.context.pending).toEqual([second]);
  });

  it('is followed by the next model turn, which receives the result', () => {
    const next = step(recording(), saved());
    expect(seen(next)).toMatchObject({
      value: { working: 'thinking' },
      effects: [['start', 'think', { exchanges: [{ call: aCall(), result: 'done' }], turns: 1 }]],
    });
    expect(next.snapshot.context.spent.turns).toBe(2);
  });
});

describe('the scores of the calls of a task', () => {
  it('continue in order with the next call, and do not change with a call without a score', () => {
    const calls = [0.9, null, 0.4].map((score, index) => ({ score, id: `call-${index + 1}` }));
    let state = governing(calls.map(({ id }) => aCall({ id })));
    const heard: unknown[] = [];
    for (const { id, score } of calls) {
      heard.push(state.effects.at(-1));
      state = finish(state, 'govern', { ...allowed(aCall({ id })), score });
      state = step(state, saved());
      state = step(finish(state, 'runTool', returned('done')), saved());
    }
    expect(heard).toMatchObject([
      ['start', 'govern', { scores: [] }],
      ['start', 'govern', { scores: [0.9] }],
      ['start', 'govern', { scores: [0.9] }],
    ]);
    expect(state.snapshot.context.scores).toEqual([0.9, 0.4]);
  });
});

describe('the turn limit', () => {
  function afterTurns(turns: number): Step {
    let state = restingStates.thinking();
    for (let turn = 1; turn <= turns; turn += 1) {
      const call = aCall({ id: `call-${turn}` });
      state = finish(finish(state, 'think', said('', [call])), 'govern', allowed(call));
      state = step(state, saved());
      state = step(finish(state, 'runTool', returned('done')), saved());
    }
    return state;
  }

  it('is 50 turns', () => {
    expect(defaultLimits.turns).toBe(50);
  });

  it('allows an answer in the fiftieth turn', () => {
    const fiftieth = afterTurns(49);
    expect(fiftieth.snapshot.value).toEqual({ working: 'thinking' });
    expect(finish(fiftieth, 'think', said('at last')).snapshot.value).toBe('completed');
  });

  it('ends a run that requests tools in the fiftieth turn', () => {
    const ended = afterTurns(50);
    expect(seen(ended)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [['note', { type: 'session.ended', state: 'failed', limit: 'turns' }]],
    });
    expect(ended.snapshot.context.failure).toEqual({
      kind: 'turnLimit',
      text: 'the run was ended after 50 model turns without an answer, and its last 50 calls were the same one of issue_refund; give the agent a narrower task, or raise model.max_turns',
    });
  });
});
