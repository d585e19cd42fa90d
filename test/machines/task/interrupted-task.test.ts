import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../../src/machines/task/task-events.ts';
import { TaskRun } from '../../helpers/run-task.ts';
import {
  aCall,
  digest,
  returned,
  runsDigest,
  said,
  saved,
  times,
} from '../../helpers/task-fixtures.ts';

const lookUp = aCall({ tool: 'look_up' });
const cancel: TaskEvent = { type: 'task.cancel', reason: 'workflow_failure', at: times.ended };
const restart: TaskEvent = { type: 'service.restarted', at: times.ended };

type Interruptible = 'thinking' | 'starting' | 'running' | 'recording';

/** Running tasks in every state that can be interrupted, with the port that is then under way; `null` for the disk. */
const interruptible: Record<Interruptible, { port: string | null; reach: () => Promise<TaskRun> }> =
  {
    thinking: { port: 'think', reach: async () => new TaskRun() },
    starting: {
      port: null,
      reach: async () => {
        const run = new TaskRun();
        await run.finish('think', said('', [lookUp]));
        return run;
      },
    },
    running: {
      port: 'runTool',
      reach: async () => {
        const run = await interruptible.starting.reach();
        run.send(saved());
        return run;
      },
    },
    recording: {
      port: null,
      reach: async () => {
        const run = await interruptible.running.reach();
        await run.finish('runTool', returned('paid'));
        return run;
      },
    },
  };

const isAbort = (line: string): boolean => line.startsWith('aborted');
const states = Object.entries(interruptible);

describe('a task that is canceled', () => {
  it.each(states)(
    'while %s ends at once and aborts the running work',
    async (state, { port, reach }) => {
      const run = await reach();
      expect(run.state).toBe(state);
      run.send(cancel);
      expect(run.task).toMatchObject({ state: 'canceled', text: 'canceled: workflow_failure' });
      expect(run.journal.filter(isAbort)).toEqual(port === null ? [] : [`aborted ${port}`]);
      expect(run.facts.slice(-2)).toEqual([
        { type: 'invocation.cancelled', reason: 'workflow_failure' },
        { type: 'session.ended', state: 'canceled' },
      ]);
    },
  );

  it('while deferred is audited as abandoned, and the call never runs', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [aCall()]));
    run.send({ ...cancel, at: times.decided });
    run.clock.set(times.expired);
    expect(run.task).toMatchObject({ state: 'canceled', deferral: null, settled: null });
    expect(run.facts.slice(-3)).toEqual([
      {
        type: 'deferral.abandoned',
        call: {
          callId: 'call-1',
          argsSha256: digest,
          deferralId: 'call-1',
          runsSha256: runsDigest,
        },
        tool: 'issue_refund',
        reason: 'canceled',
        wait: 28_000,
      },
      { type: 'invocation.cancelled', reason: 'workflow_failure' },
      { type: 'session.ended', state: 'canceled' },
    ]);
    expect(run.factsOf('tool.started')).toEqual([]);
  });

  it('ignores a result that arrives late', async () => {
    const run = await interruptible.running.reach();
    run.send(cancel);
    const facts = [...run.facts];
    await run.finish('runTool', returned('paid after all'));
    expect(run.task.state).toBe('canceled');
    expect(run.facts).toEqual(facts);
  });
});

describe('a task that a restart interrupts', () => {
  it.each(states)('while %s fails and aborts the running work', async (_, { port, reach }) => {
    const run = await reach();
    run.send(restart);
    expect(run.task).toMatchObject({ state: 'failed', text: 'interrupted by service restart' });
    expect(run.journal.filter(isAbort)).toEqual(port === null ? [] : [`aborted ${port}`]);
  });

  it('while deferred is abandoned', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [aCall()]));
    run.send(restart);
    expect(run.task).toMatchObject({
      state: 'failed',
      text: 'defer: abandoned by service restart',
    });
  });
});

describe('a disconnected caller', () => {
  it.each(states)('does not change a task that is %s', async (state, { reach }) => {
    const run = await reach();
    const journal = [...run.journal];
    run.send({ type: 'caller.left', at: times.ended });
    expect(run.state).toBe(state);
    expect(run.journal).toEqual(journal);
  });

  it('abandons a task that is deferred', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [aCall()]));
    run.send({ type: 'caller.left', at: times.decided });
    expect(run.task).toMatchObject({
      state: 'failed',
      text: 'defer: abandoned, caller disconnected',
    });
  });
});

describe('a tool', () => {
  it('starts only after its start was recorded', async () => {
    const run = await interruptible.starting.reach();
    expect(run.journal.at(-1)).toBe('note tool.started');
    expect(run.awaited).toBe('disk');
    expect(run.inputs.runTool).toEqual([]);
    run.send(saved());
    expect(run.journal.at(-1)).toBe('runTool');
  });

  it('does not start again when another part is stored during its run', async () => {
    const run = await interruptible.running.reach();
    for (const standing of ['first', 'repeatable', 'unknown'] as const) run.send(saved(standing));
    expect([run.state, run.inputs.runTool.length]).toEqual(['running', 1]);
  });

  it('is not aborted after it has ended', async () => {
    const run = await interruptible.recording.reach();
    run.send(saved());
    expect(run.journal.filter((line) => line.startsWith('aborted'))).toEqual([]);
  });

  it('delays the next turn until its end was recorded', async () => {
    const run = await interruptible.recording.reach();
    expect(run.inputs.think).toHaveLength(1);
    run.send(saved());
    expect(run.inputs.think).toHaveLength(2);
  });
});
