import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restorableSnapshot } from '../../../src/machines/task/restorable-snapshot.ts';
import {
  isKnownVersion,
  type KeptSnapshot,
  oldestTaskMachineVersion,
  presentSnapshot,
  snapshotSteps,
  taskMachineVersion,
} from '../../../src/machines/task/snapshot-steps.ts';
import { TaskRun } from '../../helpers/run-task.ts';
import { recordedStates } from './recorded-states.ts';

const snapshot: KeptSnapshot = { value: 'submitted', context: { steps: [] } };

/** A made-up step, which notes its name. */
const step = (name: string) => (before: KeptSnapshot) => ({
  ...before,
  context: { steps: [...(before.context['steps'] as string[]), name] },
});

const madeUp = [step('to 2'), step('to 3')];

describe('a snapshot of an older chart', () => {
  it.each([
    [oldestTaskMachineVersion, ['to 2', 'to 3']],
    [oldestTaskMachineVersion + 1, ['to 3']],
    [oldestTaskMachineVersion + 2, []],
  ])('passes the steps from version %i on, in order', (version, steps) => {
    expect(presentSnapshot(snapshot, version, madeUp).context).toEqual({ steps });
    expect(snapshot.context).toEqual({ steps: [] });
  });

  it('has one step for each version before the current one', () => {
    expect(snapshotSteps).toHaveLength(taskMachineVersion - oldestTaskMachineVersion);
    const versions = [oldestTaskMachineVersion - 1, oldestTaskMachineVersion, taskMachineVersion];
    expect([...versions, taskMachineVersion + 1].map(isKnownVersion)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

interface Recorded {
  state: keyof typeof recordedStates;
  version: number;
  snapshot: KeptSnapshot;
}

const recorded: Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-snapshots.json'), 'utf8'),
);

/** Returns the names of all members of a value, with their paths. */
function pathsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, `${path}.${key}`));
}

// A recorded snapshot is what a store has. If a change of the chart fails here, add a step to `snapshotSteps` and a row
// with the present version and `JSON.stringify(run.stored())`; the rows of older versions stay.
describe('a recorded snapshot', () => {
  it('exists for every version and every state in which a daemon can leave a task', () => {
    const versions = Array.from(
      { length: taskMachineVersion - oldestTaskMachineVersion + 1 },
      (_, index) => oldestTaskMachineVersion + index,
    );
    const states = Object.keys(recordedStates);
    expect(recorded.map(({ version, state }) => `${version} ${state}`)).toEqual(
      versions.flatMap((version) => states.map((state) => `${version} ${state}`)),
    );
  });

  it.each(recorded)('of version $version, $state, resumes in the current chart', async (row) => {
    const run = await recordedStates[row.state]();
    const present = run.stored() as unknown as KeptSnapshot;
    const kept = presentSnapshot(row.snapshot, row.version);
    expect(pathsIn(kept).toSorted()).toEqual(pathsIn(present).toSorted());
    const resumed = new TaskRun({
      snapshot: restorableSnapshot(row.snapshot, row.version),
      now: run.clock.now(),
    });
    const expected = new TaskRun({
      snapshot: restorableSnapshot(present, taskMachineVersion),
      now: run.clock.now(),
    });
    expect([resumed.state, resumed.errors]).toEqual([expected.state, []]);
    expect(resumed.task).toEqual(expected.task);
  });
});
