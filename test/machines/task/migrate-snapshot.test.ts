import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  isKnownVersion,
  type KeptSnapshot,
  migrateSnapshot,
  oldestTaskMachineVersion,
} from '../../../src/machines/task/migrate-snapshot.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import { initialContext } from '../../../src/machines/task/task-input.ts';
import { taskMachineVersion } from '../../../src/machines/task/task-machine.ts';
import { toldBefore } from '../../../src/machines/task/told-turns.ts';
import { aDeferral, aTaskInput } from '../../helpers/task-fixtures.ts';

const folder = join(import.meta.dirname, 'snapshots');

/** What a release of each version left in its store. */
const kept = readdirSync(folder)
  .map((name) => ({
    version: Number(/\d+/.exec(name)?.[0]),
    rows: JSON.parse(readFileSync(join(folder, name), 'utf8')) as { snapshot: KeptSnapshot }[],
  }))
  .toSorted((one, other) => one.version - other.version);

const argsDigest = () => 'e8'.repeat(32);

/** A copy without the digests of calls, which version 11 computes anew. */
const bare = (value: object): object =>
  JSON.parse(JSON.stringify(value), (key, member: unknown) =>
    ['argsSha256', 'callSha256'].includes(key) ? undefined : member,
  );

const keysOf = (value: object): string[] => Object.keys(value).toSorted();

describe('a snapshot of an older chart', () => {
  it('is kept here for every version that is gone on with', () => {
    const versions = Array.from(
      { length: taskMachineVersion - oldestTaskMachineVersion },
      (_, index) => oldestTaskMachineVersion + index,
    );
    expect(kept.map(({ version }) => version)).toEqual(versions);
    for (const { rows } of kept) {
      const held = rows.filter(({ snapshot: { context } }) => context['deferral'] !== null);
      expect(held).not.toEqual([]);
    }
  });

  it.each(kept)(
    'has all that the present chart knows, from version $version on',
    ({ version, rows }) => {
      const { run: asked, ...become } = initialContext(aTaskInput());
      for (const { snapshot } of rows) {
        const before = structuredClone(snapshot);
        const { context } = migrateSnapshot(snapshot, version, argsDigest) as unknown as {
          context: TaskContext;
        };
        const { run, ...rest } = context;
        const { owner: _, calls: ___________, ...known } = run;
        expect(keysOf(known)).toEqual(keysOf(asked));
        expect(keysOf(rest)).toEqual(keysOf(become));
        const {
          startedAt: __,
          refusal: ___,
          run: keptRun,
          turns,
          usage,
          told: ______,
          approvedCallId,
          ...said
        } = snapshot.context;
        const { refusal: ____, ...keptAsked } = { refusal: null, ...(keptRun as object) };
        expect(context.spent).toMatchObject(
          snapshot.context['spent'] ?? { turns, usage: usage ?? null },
        );
        expect(bare({ ...rest, ...run })).toMatchObject(bare({ ...said, ...keptAsked }));
        // A call has started when the version before had it among those that run.
        // A release is kept with the call it was for.
        expect(context.held === null).toBe((approvedCallId ?? null) !== context.pending[0]?.id);
        const isCalling = JSON.stringify(snapshot['value']).includes('calling');
        expect(context.startedAt === null).toBe(!isCalling);
        if (context.deferral !== null) {
          // One that has no list of targets was asked of its only one.
          const { targets: _____, shown: ________, ...whole } = aDeferral();
          const {
            targets: _______,
            shown: _________,
            runsSha256: __________,
            ...held
          } = context.deferral;
          expect(keysOf(held)).toEqual(keysOf(whole));
        }
        expect(snapshot).toEqual(before);
      }
    },
  );

  it('of version 7 keeps the calls of the last turn together, heard or not', () => {
    const { rows = [] } = kept.find(({ version }) => version === 7) ?? {};
    const turns = rows.map(({ snapshot }) => {
      const { context } = migrateSnapshot(snapshot, 7, argsDigest) as unknown as {
        context: TaskContext;
      };
      return [toldBefore(context), context.said.map(({ after }) => after)];
    });
    expect(turns).toEqual(rows.map(() => [1, [0, 1]]));
  });

  it('of the present version stays as it is', () => {
    const snapshot = { context: { id: 't' } };
    expect(migrateSnapshot(snapshot, taskMachineVersion, argsDigest)).toBe(snapshot);
  });

  it('is not touched when it is too old or too new', () => {
    const versions = [oldestTaskMachineVersion - 1, oldestTaskMachineVersion, taskMachineVersion];
    expect([...versions, taskMachineVersion + 1].map(isKnownVersion)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
