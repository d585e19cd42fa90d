import { describe, expect, it } from 'vitest';
import { isFinal, type Part, type Task, taskStates } from '../../../src/machines/domain/task.ts';
import {
  describeCrash,
  describeSubmitted,
  describeTask,
} from '../../../src/machines/task/describe-task.ts';
import * as failureOf from '../../../src/machines/task/failure-of.ts';
import { nothingSpent } from '../../../src/machines/task/limits.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import { begin, finish, nudged, restingStates, type Step, step } from '../../helpers/step-task.ts';
import {
  aCaller,
  aDeferral,
  aFollowUp,
  aTaskContext,
  aTaskInput,
  modelFailed,
  said,
  times,
} from '../../helpers/task-fixtures.ts';

function described({ snapshot }: Step) {
  return describeTask(snapshot, times.ended, 3, null);
}

describe('describeTask', () => {
  it('describes everything about a running task', () => {
    expect(described(begin())).toEqual({
      id: 'task-1',
      contextId: 'context-1',
      state: 'working',
      text: null,
      changedAt: times.ended,
      createdAt: times.created,
      revision: 3,
      history: [aTaskInput().request],
      answer: null,
      surface: 'legacy',
      requester: aCaller(),
      deferral: null,
      stage: null,
      wakeAt: null,
      settled: null,
      failure: null,
      records: [],
    });
  });

  it('contains the pending call of a deferred task', () => {
    expect(described(restingStates.asked())).toMatchObject({
      state: 'deferred',
      text: 'Deferred: awaiting channel:slack:#refunds decision on issue_refund',
      deferral: aDeferral(),
      stage: 'asked',
      wakeAt: times.expired,
    });
  });

  it('contains the answer of a completed task, and adds it to the history', () => {
    const [request, earlier] = [
      aTaskInput().request,
      { ...aTaskInput().request, messageId: 'm-0' },
    ];
    const answer = [{ kind: 'text', text: 'done' }];
    const completed = finish(begin({ history: [earlier] }), 'think', said('done'));
    expect(described(completed)).toMatchObject({
      state: 'completed',
      text: 'done',
      answer,
      history: [earlier, request, { role: 'agent', parts: answer, messageId: 'task-1:answer:2' }],
    });
  });

  it('contains the failure of a task', () => {
    const failure = { kind: 'model', text: 'no quota' };
    const failed = finish(begin(), 'think', modelFailed('no quota'));
    expect(described(failed)).toMatchObject({ state: 'failed', text: 'no quota', failure });
  });

  it('contains the reason of a cancel', () => {
    const event = { type: 'task.cancel', reason: 'cost_limit_exceeded', at: 5 } as const;
    expect(described(step(begin(), event))).toMatchObject({
      state: 'canceled',
      text: 'canceled: cost_limit_exceeded',
    });
  });

  it('keeps the time of the last change while state and text are unchanged', () => {
    const { snapshot } = restingStates.asked();
    const first = describeTask(snapshot, 10, 1, null);
    expect(describeTask(snapshot, 20, 2, first)).toEqual({ ...first, revision: 2 });
    const working = describeTask(restingStates.starting().snapshot, 30, 3, first);
    expect(working.changedAt).toBe(30);
    const other = describeTask(snapshot, 40, 4, { ...first, text: 'Deferred: something else' });
    expect(other.changedAt).toBe(40);
  });
});

describe('the optional parts of a task', () => {
  const { run } = aTaskContext();
  const usage = { model: 'demo', inputTokens: 3, outputTokens: 5, duration: 12 };
  const owner = { provider: 'ops', userId: 'ann' };
  const keys = ['leftOut', 'owner', 'tags', 'usage'] as const;

  it.each<[string, Partial<TaskContext>, object]>([
    ['none of a first run without results', {}, {}],
    ['the omitted messages', { run: { ...run, leftOut: 3 } }, { leftOut: 3 }],
    ['the owner', { run: { ...run, owner } }, { owner }],
    ['a missing owner', { run: { ...run, owner: null } }, { owner: null }],
    ['its tags', { run: { ...run, tags: { workflow_id: 'w' } } }, { tags: { workflow_id: 'w' } }],
    ['the usage of its models', { spent: { ...nothingSpent, usage } }, { usage }],
  ])('are %s', (_, more, expected) => {
    const task = describeTask(
      { tags: new Set(['working']), context: aTaskContext(more) },
      1,
      1,
      null,
    );
    const there = Object.entries(task).filter(([key]) => keys.some((one) => one === key));
    expect(Object.fromEntries(there)).toStrictEqual(expected);
  });
});

describe('the state and the text of a task', () => {
  const deferral = nudged();
  const deferred = 'Deferred: awaiting channel:slack:#refunds decision on issue_refund';
  const answer: Part[] = [
    { kind: 'text', text: 'paid' },
    { kind: 'data', data: { order: 7 } },
    { kind: 'text', text: 'twice' },
  ];
  const failure = { kind: 'model', text: 'no quota' } as const;
  const none = { stage: null, wakeAt: null };

  it.each<[string[], Partial<TaskContext>, object]>([
    [['submitted'], {}, { state: 'submitted', text: null, ...none }],
    [['working', 'saving'], {}, { state: 'working', text: null, ...none }],
    [['working'], { deferral }, { state: 'working', text: null, ...none }],
    [[], {}, { state: 'working', text: null, ...none }],
    [['deferred'], {}, { state: 'deferred', text: null, stage: 'asked', wakeAt: null }],
    [
      ['deferred'],
      { deferral },
      { state: 'deferred', text: deferred, stage: 'asked', wakeAt: times.reminded },
    ],
    [
      ['deferred', 'asked'],
      { deferral },
      { state: 'deferred', text: deferred, stage: 'asked', wakeAt: times.reminded },
    ],
    [
      ['deferred', 'reminded'],
      { deferral },
      { state: 'deferred', text: deferred, stage: 'reminded', wakeAt: times.escalated },
    ],
    [
      ['deferred', 'escalated'],
      { deferral },
      { state: 'deferred', text: deferred, stage: 'escalated', wakeAt: times.expired },
    ],
    [['completed'], { answer }, { state: 'completed', text: 'paid\n\ntwice', ...none }],
    [['completed'], {}, { state: 'completed', text: null, ...none }],
    [['failed'], { failure }, { state: 'failed', text: 'no quota', ...none }],
    [['failed'], {}, { state: 'failed', text: null, ...none }],
    [
      ['canceled'],
      { cancelReason: 'over budget' },
      { state: 'canceled', text: 'canceled: over budget', ...none },
    ],
    [['canceled'], {}, { state: 'canceled', text: 'canceled: external_signal', ...none }],
  ])('with the tags %j and %j are %j', (tags, more, expected) => {
    const context = aTaskContext(more);
    const { state, text, stage, wakeAt } = describeTask(
      { tags: new Set(tags), context },
      1,
      1,
      null,
    );
    expect({ state, text, stage, wakeAt }).toStrictEqual(expected);
  });

  it('have changed when the state has, even with the same text', () => {
    const working = described(begin());
    const { snapshot } = begin();
    const changedAt = (before: Partial<Task>) =>
      describeTask(snapshot, 99, 4, { ...working, ...before }).changedAt;
    expect([changedAt({}), changedAt({ state: 'submitted' }), changedAt({ text: '' })]).toEqual([
      times.ended,
      99,
      99,
    ]);
  });
});

describe('the history of a task', () => {
  const { request } = aTaskInput();
  const history = Array.from({ length: 199 }, (_, at) => ({ ...request, messageId: `m-${at}` }));

  it('drops its oldest messages for newer ones', () => {
    const { run } = aTaskContext();
    const answer: Part[] = [{ kind: 'text', text: 'done' }];
    const followUp = aFollowUp();
    const context = aTaskContext({
      run: { ...run, history, leftOut: 3 },
      followUps: [followUp],
      answer,
    });
    const { history: kept, leftOut } = describeTask(
      { tags: new Set(['completed']), context },
      1,
      1,
      null,
    );
    expect(leftOut).toBe(5);
    expect(kept).toEqual([
      ...history.slice(2),
      request,
      followUp.message,
      { role: 'agent', parts: answer, messageId: 'task-1:answer:204' },
    ]);
  });

  it('keeps the messages of the current run, however large they are', () => {
    const large = { ...request, parts: [{ kind: 'text', text: 'x'.repeat(2 ** 20) } as const] };
    const { run } = aTaskContext();
    const context = aTaskContext({ run: { ...run, history: [request], request: large } });
    const task = describeTask({ tags: new Set(['working']), context }, 1, 1, null);
    expect([task.history, task.leftOut]).toEqual([[large], 1]);
  });
});

describe('describeSubmitted', () => {
  it('describes the task before its first change', () => {
    const waiting = described(restingStates.asked());
    const answer: Part[] = [{ kind: 'text', text: 'done' }];
    const task = { ...waiting, failure: failureOf.crashed, answer };
    expect(describeSubmitted(task)).toStrictEqual({
      ...task,
      state: 'submitted',
      text: null,
      failure: null,
      deferral: null,
      stage: null,
      wakeAt: null,
      answer: null,
    });
  });
});

describe('describeCrash', () => {
  it('describes a failed task without a pending call', () => {
    const task = described(restingStates.asked());
    expect(describeCrash(task, failureOf.crashed, 99)).toEqual({
      ...task,
      state: 'failed',
      text: 'the task failed inside the service; its log says why',
      failure: failureOf.crashed,
      changedAt: 99,
      deferral: null,
      stage: null,
      wakeAt: null,
      answer: null,
    });
  });
});

describe('isFinal', () => {
  it('holds for the last three states only', () => {
    expect(taskStates.filter(isFinal)).toEqual(['completed', 'failed', 'canceled']);
  });
});
