import { describe, expect, it } from 'vitest';
import type { DecidedCall, Task } from '../../../src/machines/domain/task.ts';
import {
  decidersOf,
  newOutcomes,
  withCallOutcome,
  withDecision,
  withEveryOutcome,
} from '../../../src/machines/task/decided-calls.ts';
import { restingStates, step } from '../../helpers/step-task.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import { aDeferral, anAttempt, aSettledDeferral, digest } from '../../helpers/task-fixtures.ts';

const bob = { provider: 'sso', userId: 'bob' };
const ann = { provider: 'sso', userId: 'ann', email: 'ann@example.com' };
const decided: DecidedCall = { ...aSettledDeferral(), by: [null] };
const { run } = restingStates.asked().snapshot.context;

describe('a decided call', () => {
  it('is stored with the callers whose approvals counted, or the caller who rejected', () => {
    const approvals = [{ approver: 'bob@example.com', at: 1, caller: bob }];
    const deferral = aDeferral({ approvals, quorum: 2 });
    const by = (verb: 'approve' | 'reject') =>
      withDecision(run, deferral, anAttempt({ verb, caller: ann })).decided?.map((one) => one.by);
    expect(by('approve')).toEqual([[bob, ann]]);
    expect(by('reject')).toEqual([[ann]]);
  });

  it('is one of the fifty newest of a task', () => {
    const full = { ...run, decided: Array.from({ length: 50 }, () => decided) };
    const { decided: kept = [] } = withDecision(full, aDeferral({ id: 'last' }), anAttempt());
    expect([kept.length, kept.at(-1)?.id]).toEqual([50, 'last']);
  });

  it('is stored by the task that it decides', () => {
    const event = { type: 'deferral.decide', attempt: anAttempt() } as const;
    const { snapshot } = step(restingStates.asked(), event);
    expect(snapshot.context.run.decided).toEqual([decided]);
  });

  it('has the first outcome of its call', () => {
    const began = { ...run, decided: [decided, { ...decided, id: 'call-2' }] };
    const ended = withCallOutcome(began, 'call-1', { kind: 'ran' });
    expect(withCallOutcome(ended, 'call-1', { kind: 'neverRan' }).decided).toEqual([
      { ...decided, outcome: { kind: 'ran' } },
      { ...decided, id: 'call-2' },
    ]);
    expect(withCallOutcome(run, 'call-1', { kind: 'ran' })).toBe(run);
  });

  it('has an outcome once its task has ended: unknown if the call started, otherwise not run', () => {
    const started = {
      ...{ tool: 'pay', callId: 'call-2', argsSha256: digest, args: '{}', at: 1 },
      outcome: 'unknown' as const,
    };
    const rejected = { ...decided, id: 'call-3', decision: 'reject' as const };
    const task = aTask({
      decided: [decided, { ...decided, id: 'call-2' }, rejected],
      ran: [started],
    });
    expect(withEveryOutcome(task).decided?.map(({ outcome }) => outcome)).toEqual([
      { kind: 'neverRan' },
      { kind: 'unknown' },
      undefined,
    ]);
  });

  it('with an outcome is published once', () => {
    const known = { ...decided, outcome: { kind: 'ran' as const } };
    const outcomes = (before: Task | null, now: DecidedCall) =>
      newOutcomes(before, aTask({ decided: [now] }));
    expect(outcomes(null, known)).toEqual([known]);
    expect(outcomes(aTask({ decided: [decided] }), known)).toEqual([known]);
    expect(outcomes(aTask({ decided: [known] }), known)).toEqual([]);
    expect(outcomes(null, decided)).toEqual([]);
  });
});

describe('the keys of an approver', () => {
  it('are the identity and the verified email, and one shared key without authentication', () => {
    expect(decidersOf({ ...ann, email: ' ANN@example.com ' })).toEqual([
      'decided\nsso\nann',
      'decided\nann@example.com',
    ]);
    expect(decidersOf({ provider: 'runtime', userId: 'runtime' })).toEqual([
      'decided\nruntime\nruntime',
    ]);
    expect(decidersOf(null)).toEqual(['decided\n']);
  });
});
