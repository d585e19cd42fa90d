import { describe, expect, it } from 'vitest';
import { restorableSnapshot } from '../../../src/machines/task/restorable-snapshot.ts';
import { rewindCall } from '../../../src/machines/task/rewind-call.ts';
import {
  type KeptSnapshot,
  taskMachineVersion,
} from '../../../src/machines/task/snapshot-steps.ts';
import { times } from '../../helpers/task-fixtures.ts';

const calling = { working: { executing: { calling: 'running' } } };
const starting = { working: { executing: { calling: 'starting' } } };

describe('a snapshot that a task resumes from', () => {
  const context = (startedAt?: number | null): KeptSnapshot['context'] =>
    startedAt === undefined ? {} : { startedAt };
  const kept = (startedAt?: number | null): KeptSnapshot => ({
    status: 'active',
    value: calling,
    children: { a: { src: 'runTool' } },
    context: context(startedAt),
  });
  const atStart = (startedAt: number) => ({
    status: 'active',
    value: starting,
    children: {},
    context: { startedAt },
  });

  it.each([0, times.began])('is the one at the start of a call that started at %d', (startedAt) => {
    expect(rewindCall(kept(startedAt))).toStrictEqual(atStart(startedAt));
    expect(restorableSnapshot(kept(startedAt), taskMachineVersion)).toStrictEqual(
      atStart(startedAt),
    );
  });

  it.each([null, undefined])('is unchanged while no call has started: %s', (startedAt) => {
    const snapshot = kept(startedAt);
    expect(rewindCall(snapshot)).toBe(snapshot);
  });

  it.each(['governing', { executing: 'minting' }])(
    'goes back to before its call, which is ruled on again, when it was %o',
    (working) => {
      const snapshot = { ...kept(null), value: { working } };
      expect(rewindCall(snapshot)).toStrictEqual({
        ...snapshot,
        value: { working: { executing: 'recording' } },
        children: {},
      });
    },
  );

  it('is none for an invalid snapshot', () => {
    expect(() => restorableSnapshot(null, taskMachineVersion)).toThrow(TypeError);
    expect(() => restorableSnapshot({}, taskMachineVersion)).toThrow(TypeError);
  });
});
