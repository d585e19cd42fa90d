import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedTask } from '../../../../../src/ui/dashboard/views/tasks/task-order.ts';
import {
  durationOf,
  groupRuns,
  placeIn,
} from '../../../../../src/ui/dashboard/views/workflows/group-workflows.ts';
import {
  hrefOfRuns,
  letsThrough,
  readRunFilter,
} from '../../../../../src/ui/dashboard/views/workflows/run-filter.ts';
import { listedTask } from '../../../../helpers/page-tasks.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 22) + second * 1_000).toISOString();
const ms = (second: number) => Date.parse(at(second));

function aTask(id: string, parts: Partial<ListedTask> = {}): ListedTask {
  return {
    ...listedTask(0, { id, created_at: at(0), changed_at: at(1) }),
    agent: 'desk',
    ...parts,
  };
}

const flow = (execution: string, stage?: string, step?: string) => ({
  workflow_id: 'refunds',
  workflow_execution_id: execution,
  ...(stage === undefined ? {} : { stage_id: stage }),
  ...(step === undefined ? {} : { step_id: step }),
});

describe('the runs of workflows', () => {
  it('are grouped by execution, stage and step over all agents, in the order of their start', () => {
    const runs = groupRuns([
      aTask('c', {
        workflow: flow('x', 'pay', 'p1'),
        created_at: at(9),
        agent: 'till',
        state: 'deferred',
        tool: 'pay',
      }),
      aTask('b', { workflow: flow('x', 'check', 'c2'), created_at: at(4), changed_at: at(6) }),
      aTask('a', { workflow: flow('x', 'check', 'c1'), created_at: at(3), changed_at: at(5) }),
      aTask('y', { workflow: flow('y'), created_at: at(20), changed_at: at(22), state: 'failed' }),
      aTask('plain'),
      aTask('empty', { workflow: {} }),
    ]);
    expect(
      runs.map(({ stages, ...run }) => ({
        ...run,
        stages: stages.map(({ id, steps }) => [
          id,
          steps.map((step) => [step.id, step.tasks.map((task) => task.id)]),
        ]),
      })),
    ).toEqual([
      {
        ...{
          id: 'y',
          workflows: ['refunds'],
          agents: ['desk'],
          state: 'failed',
          tasks: 1,
          ended: 1,
        },
        ...{ held: 0, failed: 1, began: ms(20), done: ms(22) },
        stages: [['', [['', ['y']]]]],
      },
      {
        ...{ id: 'x', workflows: ['refunds'], agents: ['desk', 'till'], state: 'held', tasks: 3 },
        ...{ ended: 2, held: 1, failed: 0, began: ms(3), done: null },
        stages: [
          [
            'check',
            [
              ['c1', ['a']],
              ['c2', ['b']],
            ],
          ],
          ['pay', [['p1', ['c']]]],
        ],
      },
    ]);
  });

  it.each([
    [['completed', 'completed'], 'completed'],
    [['completed', 'canceled'], 'canceled'],
    [['completed', 'canceled', 'failed'], 'failed'],
    [['failed', 'working'], 'working'],
    [['failed', 'working', 'deferred'], 'held'],
  ])('with tasks that are %j are %s', (states, expected) => {
    const tasks = states.map((state, index) => aTask(`t${index}`, { state, workflow: flow('x') }));
    expect(groupRuns(tasks).map(({ state }) => state)).toEqual([expected]);
  });

  it('contain every tagged task once, in any order of arrival', () => {
    const id = fc.constantFrom('', 'a', 'b', '__proto__');
    const task = fc.record({ execution: id, stage: id, step: id, second: fc.nat(50) });
    fc.assert(
      fc.property(fc.array(task), (all) => {
        const tasks = all.map(({ execution, stage, step, second }, index) =>
          aTask(`t${index}`, { workflow: flow(execution, stage, step), created_at: at(second) }),
        );
        const found = groupRuns(tasks).flatMap(({ stages }) =>
          stages.flatMap(({ steps }) => steps.flatMap((one) => one.tasks.map((each) => each.id))),
        );
        expect(found.toSorted()).toEqual(tasks.map((one) => one.id).toSorted());
      }),
    );
  });

  it('count the time of a task to its end, and of an open one until now', () => {
    const run = { began: ms(0), done: null };
    const ended = aTask('a', { created_at: at(2), changed_at: at(4) });
    const open = aTask('b', { created_at: at(2), changed_at: at(4), state: 'deferred' });
    expect([durationOf(ended, ms(8)), durationOf(open, ms(8))]).toEqual([2_000, 6_000]);
    expect(placeIn(run, ended, ms(8))).toEqual({ from: 0.25, width: 0.25 });
    expect(placeIn(run, open, ms(8))).toEqual({ from: 0.25, width: 0.75 });
    // A clock that is behind makes no bar that leaves its place.
    expect(placeIn(run, open, ms(1))).toEqual({ from: 1, width: 0 });
  });

  it('are filtered by the address', () => {
    const [run] = groupRuns([aTask('a', { workflow: flow('run-17') })]);
    const let1 = (search: string) => letsThrough(readRunFilter(new URLSearchParams(search)), run!);
    expect(
      ['', 'state=completed', 'workflow_id=refunds&agent=desk', 'workflow_execution_id=17'].map(
        let1,
      ),
    ).toEqual([true, true, true, true]);
    expect(
      ['state=held', 'workflow_id=other', 'agent=till', 'workflow_execution_id=18'].map(let1),
    ).toEqual([false, false, false, false]);
    const filter = { state: 'held', agent: 'a b', workflow: 'w', execution: '#1' };
    expect(readRunFilter(new URLSearchParams(hrefOfRuns(filter).split('?')[1]))).toEqual(filter);
  });
});
