import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { SystemError } from '../../../src/actors/system-error.ts';
import { taskMachineVersion } from '../../../src/machines/task/snapshot-steps.ts';
import { decision, ends, parks, playing, toolCalled } from '../../helpers/system-story.ts';
import { openSystem, storeFiles } from '../../helpers/test-system.ts';

describe.each(['abandon', 'resume'] as const)('tasks of a newer release (%s)', (onRestart) => {
  async function leftByNewer(release: string | null) {
    const before = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const strange = await parks(before.system);
    const known = await parks(before.system);
    if (release !== null) await before.store.releases.keep(99, release);
    await before.stop();
    const database = new DatabaseSync(storeFiles(before.directory).path);
    database.prepare('UPDATE tasks SET machine_version = 99 WHERE id = ?').run(strange.id);
    database.close();
    const { directory, clock } = before;
    const rig = await openSystem({ directory, clock, onRestart, deferred: { pay: {} } });
    return { rig, strange, known, clock };
  }

  it('can be read and not changed, and a decision names the release that can', async () => {
    const { rig, strange, known, clock } = await leftByNewer('2.1.0');
    expect(await rig.system.reads.find(strange.id)).toEqual(strange);
    expect((await rig.system.reads.list({ limit: 9 })).tasks).toHaveLength(2);
    const refusal = new SystemError(
      'unknown_machine_version',
      `task ${strange.id} was saved by version 99 of the task machine, and release 0.0.0-test, which runs version ${taskMachineVersion}, cannot continue it; decide it with release 2.1.0`,
    );
    await expect(rig.system.decide(strange.id, decision('approve', clock.now()))).rejects.toEqual(
      refusal,
    );
    await expect(rig.system.cancel(strange.id, 'timeout')).rejects.toEqual(refusal);
    clock.advance(86_400_000);
    clock.advance(0);
    expect(await rig.system.reads.find(strange.id)).toEqual(strange);
    expect((await ends(rig.system, known.id)).state).toBe('failed');
    expect((await ends(rig.system, await rig.system.open(playing([{ say: 'hi' }])))).text).toBe(
      'hi',
    );
  });

  it('are counted and named at the start', async () => {
    const { rig } = await leftByNewer(null);
    expect(await rig.system.metrics.strangers()).toBe(1);
    expect(rig.logged).toEqual([
      {
        level: 'warn',
        fields: { tasks: 1, machine_version: 99 },
        message: 'tasks: some wait for the release that saved them; start that one to decide them',
      },
    ]);
  });
});
