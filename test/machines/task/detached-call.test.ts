import { describe, expect, it } from 'vitest';
import type { RemoteTask } from '../../../src/machines/domain/task.ts';
import { restorableSnapshot } from '../../../src/machines/task/restorable-snapshot.ts';
import { taskMachineVersion } from '../../../src/machines/task/snapshot-steps.ts';
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

const lookUp = aCall({ tool: 'look_up' });
const remote: RemoteTask = { id: 'w-1', place: 'p-1', since: times.thought, ttl: null };

/** A run whose only call is continued by another program; with another call, it is an approved one. */
async function detachedRun(call = lookUp): Promise<TaskRun> {
  const run = new TaskRun();
  await run.finish('think', said('', [call]));
  if (call !== lookUp) await run.decide(anAttempt());
  run.send(saved());
  run.send({ type: 'tool.detached', remote });
  return run;
}

function restore(run: TaskRun): TaskRun {
  const snapshot = restorableSnapshot(run.stored(), taskMachineVersion);
  return new TaskRun({ snapshot, now: times.decided });
}

describe('a call that another program continues as a task', () => {
  it('continues, and its end is the end of the tool call', async () => {
    const run = await detachedRun();
    expect([run.state, run.inputs.runTool.length]).toEqual(['running', 1]);
    await run.finish('runTool', returned('built'));
    run.send(saved());
    const [exchange] = run.inputs.think.at(-1)?.exchanges ?? [];
    expect(exchange).toEqual({ call: lookUp, result: 'built' });
    expect(JSON.stringify([run.task, run.facts])).not.toContain('w-1');
  });

  it('is followed after a restart, under its approval', async () => {
    const run = restore(await detachedRun(aCall()));
    expect([run.state, run.inputs.runTool]).toEqual(['starting', []]);
    run.send(saved('detached'));
    expect(run.inputs.runTool).toMatchObject([
      {
        call: { ...aCall(), remote },
        approvedSha256: digest,
        approvedRuns: runsDigest,
        needsCredential: false,
      },
    ]);
    expect(run.factsOf('tool.started')).toEqual([]);
  });

  it('is unknown after a restart that cannot follow it', async () => {
    const run = restore(await detachedRun());
    run.send(saved('unknown'));
    expect(run.task).toMatchObject({
      state: 'failed',
      text: 'interrupted by service restart: look_up had started and its outcome is unknown',
    });
  });
});
