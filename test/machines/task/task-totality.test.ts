import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { type TaskState, taskStates } from '../../../src/machines/domain/task.ts';
import type { TaskEvent } from '../../../src/machines/task/task-events.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { begin, publicState, restingStates, step } from '../../helpers/step-task.ts';
import { aFollowUp, anAttempt, saved, times } from '../../helpers/task-fixtures.ts';

const events: { [Type in TaskEvent['type']]: Extract<TaskEvent, { type: Type }> } = {
  'deferral.decide': { type: 'deferral.decide', attempt: anAttempt() },
  'policy.changed': { type: 'policy.changed', at: times.decided },
  'deadline.reached': { type: 'deadline.reached', at: times.expired },
  'time.passed': { type: 'time.passed', at: times.decided, busy: 1_000 },
  'call.repeated': { type: 'call.repeated' },
  'link.shown': { type: 'link.shown' },
  'caller.left': { type: 'caller.left', at: times.decided },
  'task.cancel': { type: 'task.cancel', reason: 'timeout', at: times.decided },
  'service.restarted': { type: 'service.restarted', at: times.decided },
  'message.received': {
    type: 'message.received',
    message: aFollowUp().message,
    refusal: null,
    sender: null,
  },
  'prompt.screened': { type: 'prompt.screened', refusal: null, took: 0 },
  'task.saved': saved() as Extract<TaskEvent, { type: 'task.saved' }>,
  'tool.waiting': { type: 'tool.waiting', wait: { at: 'shop', for: 'ann@example.com' } },
  'tool.detached': {
    type: 'tool.detached',
    remote: { id: 'r1', place: 'p1', since: times.decided, ttl: null },
  },
  'egress.judged': {
    type: 'egress.judged',
    domain: 'api.example.com',
    mode: 'allowlist',
    reason: null,
  },
};

/** A caller may disconnect and a stale timer may fire while no approval is awaited: work continues. */
const ignoredWhileSaving: TaskEvent['type'][] = [
  'call.repeated',
  'link.shown',
  'policy.changed',
  'deadline.reached',
  'time.passed',
  'caller.left',
  'prompt.screened',
  'tool.waiting',
  'tool.detached',
];
const ignoredAtWork: TaskEvent['type'][] = [...ignoredWhileSaving, 'task.saved'];
/** What is saved while a task waits changes nothing. */
const ignoredWhileDeferred: TaskEvent['type'][] = [
  'time.passed',
  'prompt.screened',
  'task.saved',
  'tool.waiting',
  'tool.detached',
];

const ignored = {
  accepting: ignoredAtWork,
  thinking: ignoredAtWork,
  governing: ignoredAtWork,
  asked: ignoredWhileDeferred,
  reminded: ignoredWhileDeferred,
  escalated: ignoredWhileDeferred,
  minting: ignoredAtWork,
  starting: ignoredWhileSaving,
  mintingAgain: ignoredAtWork,
  running: ignoredAtWork.filter((type) => !['tool.waiting', 'tool.detached'].includes(type)),
  recording: ignoredWhileSaving,
} satisfies Partial<Record<keyof typeof restingStates, TaskEvent['type'][]>>;

const rows = Object.entries(ignored).flatMap(([name, ignoredTypes]) =>
  Object.values(events).map((event) => {
    const isIgnored = ignoredTypes.some((type) => type === event.type);
    return { state: name as keyof typeof ignored, type: event.type, event, isIgnored };
  }),
);

describe('every event in every state', () => {
  it.each(rows.filter(({ isIgnored }) => !isIgnored))(
    '$state handles $type',
    ({ state, event }) => {
      expect(restingStates[state]().snapshot.can(event)).toBe(true);
    },
  );

  it.each(rows.filter(({ isIgnored }) => isIgnored))('$state ignores $type', ({ state, event }) => {
    const from = restingStates[state]();
    const after = step(from, event);
    expect(from.snapshot.can(event)).toBe(false);
    expect(after.effects).toEqual([]);
    expect(after.snapshot.toJSON()).toEqual(from.snapshot.toJSON());
  });

  it('covers every state of the chart except transient ones', () => {
    const passed = ['submitted', 'admitted'];
    const resting = atomicStates(taskMachine.root)
      .filter(({ key }) => !passed.includes(key))
      .map(({ key }) => key);
    const reached = Object.keys(restingStates).filter((name) => name !== 'mintingAgain');
    expect(resting.toSorted()).toEqual(reached.toSorted());
  });
});

describe('a ruling of the egress policy', () => {
  it.each(Object.keys(ignored) as (keyof typeof ignored)[])(
    'is recorded in %s, and changes nothing',
    (state) => {
      const from = restingStates[state]();
      const after = step(from, events['egress.judged']);
      expect(after.effects).toEqual([['note', events['egress.judged']]]);
      expect(after.snapshot.toJSON()).toEqual(from.snapshot.toJSON());
    },
  );
});

describe('the public states', () => {
  it.each(Object.entries(restingStates))('of %s are exactly one', (_, reach) => {
    const { snapshot } = reach();
    const states: string[] = [...taskStates];
    expect([...snapshot.tags].filter((tag) => states.includes(tag))).toHaveLength(1);
  });

  it('match the states of the chart', () => {
    expect(Object.keys(taskMachine.root.states)).toEqual([...taskStates]);
  });

  it('are final exactly when the chart is', () => {
    const finals = Object.values(restingStates)
      .map((reach) => reach())
      .filter(({ snapshot }) => snapshot.hasTag('final'));
    expect(finals.map(publicState)).toEqual([
      'completed',
      'failed',
      'canceled',
    ] satisfies TaskState[]);
    for (const { snapshot } of finals) expect(snapshot.status).toBe('done');
  });

  it('begin with submitted, which ends at once', () => {
    const { snapshot } = begin();
    expect(snapshot.hasTag('submitted')).toBe(false);
    expect(snapshot.hasTag('working')).toBe(true);
  });
});

function atomicStates(node: AnyStateNode): AnyStateNode[] {
  const children = Object.values(node.states);
  return children.length === 0 ? [node] : children.flatMap(atomicStates);
}
