import { describe, expect, it } from 'vitest';
import { describeCrash, describeTask } from '../../../src/machines/task/describe-task.ts';
import * as failureOf from '../../../src/machines/task/failure-of.ts';
import { isFinal, taskStates } from '../../../src/machines/task/task.ts';
import { begin, finish, restingStates, type Step, step } from '../../helpers/step-task.ts';
import {
  aCaller,
  aDeferral,
  aTaskInput,
  modelFailed,
  said,
  times,
} from '../../helpers/task-fixtures.ts';

function described({ snapshot }: Step) {
  return describeTask(snapshot, times.ended, 3, null);
}

describe('describeTask', () => {
  it('tells all there is to know of a task at work', () => {
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

  it('says what a deferred task waits for', () => {
    expect(described(restingStates.asked())).toMatchObject({
      state: 'deferred',
      text: 'Deferred: awaiting channel:slack:#refunds decision on issue_refund',
      deferral: aDeferral(),
      stage: 'asked',
      wakeAt: times.expired,
    });
  });

  it('says the answer of a completed task, and adds it to the history', () => {
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

  it('says why a task failed', () => {
    const failure = { kind: 'model', text: 'no quota' };
    const failed = finish(begin(), 'think', modelFailed('no quota'));
    expect(described(failed)).toMatchObject({ state: 'failed', text: 'no quota', failure });
  });

  it('says why a task was canceled', () => {
    const event = { type: 'task.cancel', reason: 'cost_limit_exceeded', at: 5 } as const;
    expect(described(step(begin(), event))).toMatchObject({
      state: 'canceled',
      text: 'canceled: cost_limit_exceeded',
    });
  });

  it('keeps the time of the last change while state and text stay', () => {
    const { snapshot } = restingStates.asked();
    const first = describeTask(snapshot, 10, 1, null);
    expect(describeTask(snapshot, 20, 2, first)).toEqual({ ...first, revision: 2 });
    const working = describeTask(restingStates.starting().snapshot, 30, 3, first);
    expect(working.changedAt).toBe(30);
    const other = describeTask(snapshot, 40, 4, { ...first, text: 'Deferred: something else' });
    expect(other.changedAt).toBe(40);
  });
});

describe('describeCrash', () => {
  it('fails the task with nothing left to wait for', () => {
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
