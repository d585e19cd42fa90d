import { describe, expect, it } from 'vitest';
import type { RanCall } from '../../../src/machines/domain/task.ts';
import { earlierEqual } from '../../../src/machines/governance/earlier-equal.ts';
import { allRan, ranBefore, ranInRun } from '../../../src/machines/task/ran-calls.ts';
import { TaskRun } from '../../helpers/run-task.ts';
import { released, restingStates, step } from '../../helpers/step-task.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import {
  aCall,
  anAttempt,
  digest,
  modelFailed,
  returned,
  said,
  saved,
  times,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

const ran: RanCall = {
  ...{ tool: 'look_up', callId: 'call-1', argsSha256: digest, args: '{"order":7}' },
  ...{ outcome: 'succeeded', at: times.began },
};

const call = aCall({ tool: 'look_up' });

/** A task with one call that starts, and what ends it. */
async function started(onToolError: 'fail' | 'return' = 'return'): Promise<TaskRun> {
  const run = new TaskRun({ input: { onToolError } });
  await run.finish('think', said('', [call]));
  run.send(saved());
  return run;
}

describe('the calls of a run that started', () => {
  it.each([
    ['succeeded', returned('found'), {}],
    ['failed', toolFailed('no'), {}],
    ['withheld', withheld('secret'), { labels: ['deny_output[0]'] }],
  ] as const)('are stored as %s once they ended', async (outcome, ended, labels) => {
    for (const onToolError of ['fail', 'return'] as const) {
      const run = await started(onToolError);
      await run.finish('runTool', ended);
      expect(run.task.ran).toEqual([{ ...ran, outcome, ...labels }]);
    }
  });

  it('are stored as unknown when the task ends first', async () => {
    const run = await started();
    run.send({ type: 'task.cancel', reason: 'timeout', at: times.ended });
    expect(run.task).toMatchObject({ state: 'canceled', ran: [{ ...ran, outcome: 'unknown' }] });
  });

  it('do not include a refused call', async () => {
    const run = await started();
    const { findings, rewrites, checking, duration, at } = toolFailed('changed');
    const outcome = { findings, rewrites, checking, duration, at };
    await run.finish('runTool', { ...outcome, kind: 'barred', error: 'changed' });
    expect(run.task.ran).toBe(undefined);
  });

  it('name their approvers', () => {
    const begun = step(released(restingStates.asked(), anAttempt({ approver: 'Ann' })), saved());
    expect(begun.snapshot.context.run.ran).toEqual([
      { ...ran, tool: 'issue_refund', outcome: 'unknown', approver: 'Ann' },
    ]);
  });

  it('keep the beginning of long arguments', async () => {
    const run = new TaskRun();
    const text = 'x'.repeat(1_000);
    await run.finish('think', said('', [aCall({ tool: 'look_up', args: { text } })]));
    expect(run.task.ran?.map(({ args }) => args.length)).toEqual([300]);
  });

  it('are named when the model fails after them, instead of the advice to try again', async () => {
    const run = await started();
    await run.finish('runTool', returned('found'));
    run.send(saved());
    await run.finish('think', modelFailed('acme failed (500); try again'));
    expect(run.task.text).toBe(
      'look_up (call call-1) already ran; then acme failed (500); check what ran before you send this again',
    );
  });
});

describe('the calls that a further run receives', () => {
  it('are the newest that started, by time, each once', () => {
    const calls = Array.from({ length: 60 }, (_, at) => ({ ...ran, callId: `call-${at}`, at }));
    const tasks = [
      aTask({ ran: calls.slice(30) }),
      aTask({ ran: calls.slice(0, 31).map((one) => ({ ...one, isEarlier: true as const })) }),
      aTask(),
    ];
    const carried = ranBefore(tasks);
    expect(carried).toEqual(calls.slice(10).map((one) => ({ ...one, isEarlier: true })));
    expect(ranInRun({ ran: [...carried, ran] })).toEqual([ran]);
    expect(ranInRun({})).toEqual([]);
  });

  it('do not include the call itself', () => {
    expect(earlierEqual([ran], call)).toBe(null);
    expect(earlierEqual([ran], { ...call, id: 'call-2' })).toEqual({
      callId: 'call-1',
      at: times.began,
    });
  });
});

describe('all calls of a session', () => {
  const one = { ...ran, outcome: 'succeeded' } as const;
  const before = (count: number): RanCall[] =>
    Array.from({ length: count }, (_, at) => ({ ...one, callId: `c-${at}`, at, isEarlier: true }));

  it('are listed once each, oldest first', () => {
    const later = { ...one, callId: 'later', at: 100 };
    const tasks = [aTask({ ran: [...before(2), later] }), aTask({ ran: before(3) })];
    expect(allRan(tasks)?.map(({ callId }) => callId)).toEqual(['c-0', 'c-1', 'c-2', 'later']);
    expect(allRan([aTask({})])).toEqual([]);
  });

  it('are unknown where a task may have lost some', () => {
    expect(allRan([aTask({ ran: before(50) })])).toBeNull();
    expect(allRan([aTask({ ran: before(49) })])).toHaveLength(49);
  });
});
