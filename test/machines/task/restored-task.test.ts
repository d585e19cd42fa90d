import { describe, expect, it } from 'vitest';
import { TaskRun } from '../../helpers/run-task.ts';
import {
  aCall,
  anAttempt,
  digest,
  returned,
  runsDigest,
  said,
  saved,
  times,
} from '../../helpers/task-fixtures.ts';

const second = aCall({ id: 'call-2', tool: 'look_up' });

async function parkedRun(): Promise<TaskRun> {
  const run = new TaskRun();
  await run.finish('think', said('', [aCall(), second]));
  return run;
}

async function startingRun(): Promise<TaskRun> {
  const run = await parkedRun();
  await run.decide(anAttempt());
  return run;
}

async function recordingRun(): Promise<TaskRun> {
  const run = await startingRun();
  run.send(saved());
  await run.finish('runTool', returned('refunded'));
  return run;
}

function restore(run: TaskRun, now: number): TaskRun {
  return new TaskRun({ snapshot: run.stored(), now });
}

describe('a stored task', () => {
  it.each([
    ['thinking', async () => new TaskRun()],
    ['asked', parkedRun],
    ['starting', startingRun],
    ['recording', recordingRun],
  ])('that is %s is plain JSON and is restored unchanged', async (state, reach) => {
    const run = await reach();
    const persisted = run.actor.getPersistedSnapshot();
    expect(JSON.parse(JSON.stringify(persisted))).toEqual(persisted);
    const restored = restore(run, times.decided);
    expect(restored.state).toBe(state);
    expect(restored.actor.getSnapshot().context).toEqual(run.actor.getSnapshot().context);
    expect(restored.facts).toEqual([]);
  });

  it('asks the model again when it was thinking', () => {
    const restored = restore(new TaskRun(), times.decided);
    expect(restored.inputs.think).toMatchObject([{ turns: 0 }]);
  });
});

describe('a stored task that was deferred', () => {
  it('keeps its deadline', async () => {
    const restored = restore(await parkedRun(), times.decided);
    restored.clock.set(times.expired - 1);
    expect(restored.task.state).toBe('deferred');
    restored.clock.set(times.expired);
    expect(restored.task).toMatchObject({
      state: 'failed',
      text: 'defer: no decision within 5m0s (auto-deny)',
    });
  });

  it('is denied at once when its deadline has passed', async () => {
    const restored = restore(await parkedRun(), times.expired * 2);
    restored.clock.increment(0);
    expect(restored.task.failure?.kind).toBe('timedOut');
    expect(restored.factsOf('deferral.timedOut')).toMatchObject([
      { wait: times.expired * 2 - times.thought },
    ]);
  });

  it('can still be approved, and its wait counts from its first day', async () => {
    const restored = restore(await parkedRun(), times.decided);
    await restored.decide(anAttempt());
    expect(restored.factsOf('deferral.decided')).toMatchObject([{ wait: 28_000 }]);
    await restored.runsTool(returned('refunded'));
    expect(restored.inputs.runTool).toMatchObject([{ call: aCall(), approvedSha256: digest }]);
    expect(restored.facts.at(-1)).toMatchObject({
      type: 'tool.started',
      call: { callId: second.id },
      tool: second.tool,
    });
  });

  it('keeps the approvals of its quorum', async () => {
    const run = await parkedRun();
    const stored = JSON.parse(JSON.stringify(run.stored()));
    stored.context.deferral.quorum = 2;
    const first = new TaskRun({ snapshot: stored, now: times.decided });
    await first.decide(anAttempt({ approver: 'Ann' }));
    const last = restore(first, times.decided);
    await last.decide(anAttempt({ approver: 'Ann' }));
    await last.decide(anAttempt({ approver: 'Bob' }));
    expect(last.answers.map(({ kind }) => kind)).toEqual(['recorded', 'resolved']);
  });
});

describe('a stored task whose call had started', () => {
  it('requests the standing of the start and records it once', async () => {
    const restored = restore(await startingRun(), times.decided);
    expect([restored.journal, restored.awaited]).toEqual([[], 'disk']);
  });

  it('fails without a second run when the outcome is unknown', async () => {
    const restored = restore(await startingRun(), times.decided);
    restored.send(saved('unknown', times.ended));
    const text =
      'interrupted by service restart: issue_refund had started and its outcome is unknown';
    expect(restored.task).toMatchObject({ state: 'failed', text });
    expect(restored.inputs.runTool).toEqual([]);
    expect(restored.facts).toEqual([
      {
        type: 'tool.ended',
        call: {
          callId: 'call-1',
          argsSha256: digest,
          deferralId: 'call-1',
          runsSha256: runsDigest,
        },
        tool: 'issue_refund',
        duration: 0,
        argsSize: 11,
        resultSize: 0,
        outcome: 'unknown',
        error: text,
      },
      { type: 'session.ended', state: 'failed' },
    ]);
  });

  it('runs a repeatable call again under the same id', async () => {
    const restored = restore(await startingRun(), times.decided);
    restored.send(saved('repeatable'));
    await restored.finish('runTool', returned('refunded'));
    expect(restored.inputs.runTool).toMatchObject([{ call: { id: 'call-1' } }]);
    expect(restored.facts.map(({ type }) => type)).toEqual(['tool.ended']);
  });

  it('can still be canceled', async () => {
    const restored = restore(await startingRun(), times.decided);
    restored.send({ type: 'task.cancel', reason: 'timeout', at: times.ended });
    expect(restored.task.state).toBe('canceled');
    expect(restored.factsOf('tool.ended')).toMatchObject([{ error: 'canceled: timeout' }]);
  });
});

describe('a stored task whose call had ended', () => {
  it('records the end again and continues with the next call', async () => {
    const restored = restore(await recordingRun(), times.ended);
    expect([restored.journal, restored.awaited]).toEqual([[], 'disk']);
    restored.send(saved());
    expect(restored.factsOf('tool.started').map(({ tool }) => tool)).toEqual([second.tool]);
    await restored.runsTool(returned('it is paid'));
    expect(restored.inputs.think[0]?.exchanges.map(({ result }) => result)).toEqual([
      'refunded',
      'it is paid',
    ]);
  });

  it('answers a second decision with the first one', async () => {
    const restored = restore(await recordingRun(), times.ended);
    await restored.decide(anAttempt({ verb: 'reject', at: times.ended }));
    expect(restored.answers).toMatchObject([
      { kind: 'decided', settled: { decision: 'approve', approver: 'Ann' } },
    ]);
  });
});
