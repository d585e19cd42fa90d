import { describe, expect, it } from 'vitest';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import { TaskRun } from '../../helpers/run-task.ts';
import { nudged, released, restingStates, type Step, seen, step } from '../../helpers/step-task.ts';
import {
  aCall,
  aDeferRule,
  anAttempt,
  said,
  times,
  toolRules,
} from '../../helpers/task-fixtures.ts';

const { asked, reminded, escalated } = restingStates;
const passes = (from: Step, at: number): Step => step(from, { type: 'deadline.reached', at });

const reminder = {
  type: 'deferral.reminded',
  tool: 'issue_refund',
  to: 'channel:slack:#refunds',
  wait: 150_000,
};
const escalation = {
  type: 'deferral.escalated',
  tool: 'issue_refund',
  to: 'channel:console:managers',
  wait: 225_000,
};

describe('the waiting time of a deferral', () => {
  it('runs to the first of its moments', () => {
    const wakeAt = ({ snapshot }: Step) => describeTask(snapshot, 0, 1, null).wakeAt;
    expect([asked(nudged()), asked()].map(wakeAt)).toEqual([times.reminded, times.expired]);
  });

  it.each([
    ['asked', asked],
    ['reminded', reminded],
    ['escalated', escalated],
  ] as const)('changes nothing in %s before its next moment, for any early event', (_, from) => {
    const state = from(nudged());
    const early = passes(state, times.reminded - 1);
    expect(early.effects).toEqual([]);
    expect(early.snapshot.toJSON()).toEqual(state.snapshot.toJSON());
  });

  it('reminds the approvers at half of it', () => {
    expect(seen(reminded())).toEqual({
      value: { deferred: 'reminded' },
      tags: ['deferred', 'reminded'],
      effects: [['note', reminder]],
    });
  });

  it('escalates at three quarters', () => {
    const after = [['note', escalation]];
    const state = { value: { deferred: 'escalated' }, tags: ['deferred', 'escalated'] };
    expect(seen(passes(reminded(), times.escalated))).toEqual({ ...state, effects: after });
    expect(seen(escalated())).toEqual({ ...state, effects: after });
  });

  it.each([
    ['asked', asked],
    ['reminded', reminded],
    ['escalated', escalated],
  ])('ends with a timeout after it was %s', (_stage, reach) => {
    const ended = passes(reach(nudged()), times.expired);
    expect(ended.snapshot.value).toBe('failed');
    expect(ended.effects).not.toContainEqual(['note', reminder]);
    expect(ended.snapshot.context.failure?.kind).toBe('timedOut');
  });

  it.each([
    ['asked', asked],
    ['reminded', reminded],
    ['escalated', escalated],
  ])('allows a decision at any time after it was %s', (_stage, reach) => {
    expect(released(reach(nudged())).snapshot.value).toEqual({
      working: { executing: { calling: 'starting' } },
    });
  });

  it('keeps the approvals at a reminder and an escalation', () => {
    const deferral = { ...nudged(), quorum: 2 };
    const first = step(asked(deferral), { type: 'deferral.decide', attempt: anAttempt() });
    const later = passes(passes(first, times.reminded), times.escalated);
    expect(later.snapshot.context.deferral?.approvals).toEqual([
      { approver: 'Ann', at: times.decided },
    ]);
  });
});

describe('the next moment of a deferral', () => {
  it.each([
    ['asked', asked, times.reminded],
    ['reminded', reminded, times.escalated],
    ['escalated', escalated, times.expired],
  ] as const)('of a task that was %s is its wake-up time', (stage, reach, wakeAt) => {
    const { snapshot } = reach(nudged());
    expect(describeTask(snapshot, 1, 1, null)).toMatchObject({ stage, wakeAt });
  });
});

describe('a running deferral', () => {
  const rules = toolRules({
    defer: aDeferRule({ remind: true, escalateTo: 'channel:console:managers' }),
  });

  it('reminds, escalates and ends by its own clock', async () => {
    const run = new TaskRun({ rulesFor: () => rules });
    await run.finish('think', said('', [aCall()]));
    for (const at of [times.reminded, times.escalated, times.expired]) {
      run.clock.set(at - 1);
      run.clock.set(at);
    }
    expect(run.task).toMatchObject({ state: 'failed', failure: { kind: 'timedOut' } });
    expect(run.factsOf('deferral.reminded', 'deferral.escalated')).toEqual([reminder, escalation]);
  });

  it('that slept past both moments is escalated at once', async () => {
    const run = new TaskRun({ rulesFor: () => rules });
    await run.finish('think', said('', [aCall()]));
    const restored = new TaskRun({ snapshot: run.stored(), now: times.escalated + 1 });
    restored.clock.increment(0);
    expect(restored.state).toBe('escalated');
    expect(restored.facts).toEqual([{ ...escalation, wait: 225_001 }]);
  });
});
