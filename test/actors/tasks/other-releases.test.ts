import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { SystemError } from '../../../src/actors/system-error.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { taskMachineVersion } from '../../../src/machines/task/task-machine.ts';
import { patient } from '../../helpers/patient.ts';
import {
  briefly,
  decision,
  ends,
  endsInTime,
  parks,
  playing,
  toolCalled,
} from '../../helpers/system-story.ts';
import { openStore, openSystem, storeFiles, temporaryFolder } from '../../helpers/test-system.ts';

interface KeptRow {
  machineVersion: number;
  auditSeq: number;
  startedCall: string | null;
  task: Task;
  snapshot: object;
}

const snapshots = join(import.meta.dirname, '../../machines/task/snapshots');

/** A store with the tasks that a release with a version of the task chart left behind. */
async function leftBy(version: number): Promise<string> {
  const file = join(snapshots, `version-${version}.json`);
  const rows: KeptRow[] = JSON.parse(readFileSync(file, 'utf8'));
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (const { task, snapshot, ...row } of rows) {
    const change = { ...row, task, expected: 0, snapshot: JSON.stringify(snapshot) };
    void store.save(task.id, () => ({ change, events: [] }));
  }
  await store.close();
  return directory;
}

function versionsIn(directory: string): unknown {
  const database = new DatabaseSync(storeFiles(directory).path);
  const rows = database.prepare('SELECT id, machine_version FROM tasks ORDER BY id').all();
  database.close();
  return rows.map(({ id, machine_version: version }) => [id, version]);
}

describe('tasks that an older release left behind', () => {
  it('are gone on with: the one that waits is decided, the one at work works on', async () => {
    const directory = await leftBy(2);
    const pay = toolCalled('pay', async () => 'paid');
    const hang = toolCalled('hang', async () => 'back', { idempotent: true });
    const { system, clock, events, logged } = await openSystem({
      directory,
      tools: [pay, hang],
      deferred: { pay: {} },
    });
    expect(await ends(system, 'running')).toMatchObject({
      state: 'completed',
      text: 'done: back',
    });
    expect(hang.runs).toHaveLength(1);
    const bob = { approver: 'Bob', email: 'bob@example.com' };
    const answer = await system.decide('parked', decision('approve', clock.now(), bob));
    expect(answer.kind).toBe('resolved');
    const ended = await ends(system, 'parked');
    expect(ended).toMatchObject({ state: 'completed', text: 'done: paid' });
    expect(ended.history.map(({ messageId }) => messageId)).toEqual([
      'm-1',
      'parked:answer:1',
      'm-1',
      'parked:answer:3',
    ]);
    expect(pay.runs).toMatchObject([{ args: { order: 7 } }]);
    expect(events('parked')[0]).toMatchObject({ event: 'task_deferred_decision', seq: 8 });
    expect(versionsIn(directory)).toEqual([
      ['parked', taskMachineVersion],
      ['running', taskMachineVersion],
    ]);
    expect([await system.metrics.strangers(), logged]).toEqual([0, []]);
  });

  const unknown = 'interrupted by service restart: hang had started and its outcome is unknown';

  it.each([
    [true, { starting: 'done: back', running: 'done: back', 'minting-again': 'done: back' }, 3],
    [false, { starting: unknown, running: unknown, 'minting-again': unknown }, 0],
  ])(
    'are gone on with at every step of a call, run again only if it may be (%s)',
    async (idempotent, texts, runs) => {
      const directory = await leftBy(5);
      const hang = toolCalled('hang', async () => 'back', { idempotent });
      const issue = async () => ({
        provider: 'static' as const,
        ttl: null,
        env: () => ({}),
        secretValues: () => [],
        revoke: () => undefined,
      });
      const issuer = { providerOf: () => 'static' as const, issue };
      const rig = await openSystem({ directory, issuer, tools: [hang] });
      const { system, clock, events } = rig;
      for (const [id, text] of Object.entries({ ...texts, recording: 'done: back' })) {
        expect([id, (await ends(system, id)).text]).toEqual([id, text]);
        const execs = briefly(events(id)).filter((event) => event.startsWith('tool_exec'));
        expect(execs).toEqual(id === 'recording' ? [] : ['tool_exec end']);
      }
      expect(hang.runs).toHaveLength(runs);
      expect(
        await Promise.all(
          ['parked', 'reminded'].map(async (id) => (await system.reads.find(id))?.stage),
        ),
      ).toEqual(['asked', 'reminded']);
      const { wakeAt } = (await system.reads.find('reminded'))!;
      const untilEscalated = wakeAt! - clock.now();
      clock.advance(untilEscalated);
      const stage = async () => (await system.reads.find('reminded'))?.stage;
      await vi.waitFor(async () => expect(await stage()).toBe('escalated'), patient);
      clock.advance(24 * 3_600_000 - untilEscalated);
      for (const id of ['parked', 'reminded']) {
        expect((await endsInTime(rig, id)).text).toBe(
          'defer: no decision within 24h0m0s (auto-deny)',
        );
      }
      expect(briefly(events('reminded'))).toEqual([
        'task_deferred_escalated',
        'task_deferred_timeout',
        'session_end failed',
      ]);
    },
  );

  it('that a call over MCP began end with its result, and no model is called', async () => {
    const directory = await leftBy(9);
    const pay = toolCalled('pay', async () => 'paid');
    const { system, clock, events } = await openSystem({
      directory,
      tools: [pay],
      deferred: { pay: {} },
    });
    const stateOf = async (id: string) => (await system.reads.find(id))?.state;
    await vi.waitFor(async () => expect(await stateOf('call-thinking')).toBe('deferred'), patient);
    const texts = [];
    for (const id of ['call-held', 'call-thinking', 'held']) {
      expect((await system.decide(id, decision('approve', clock.now()))).kind).toBe('resolved');
      const { state, text } = await ends(system, id);
      texts.push([state, text]);
    }
    expect(texts).toEqual([
      ['completed', 'paid'],
      ['completed', 'paid'],
      ['completed', 'done: paid'],
    ]);
    const released = ['task_deferred_decision approve', 'tool_exec start', 'tool_exec end'];
    expect(briefly(events('call-held'))).toEqual([...released, 'session_end completed']);
    expect(briefly(events('call-thinking'))).toEqual([
      'task_deferred',
      ...released,
      'session_end completed',
    ]);
    expect(briefly(events('held'))).toEqual([...released, 'llm_call', 'session_end completed']);
    expect(pay.runs).toMatchObject([
      { args: { order: 7 } },
      { args: { order: 7 } },
      { args: { order: 8 } },
    ]);
  });

  it('are given up in the words of a restart where that is configured', async () => {
    const directory = await leftBy(2);
    const { system, events } = await openSystem({ directory, onRestart: 'abandon' });
    expect(
      await Promise.all(
        ['parked', 'running'].map(async (id) => (await system.reads.find(id))?.text),
      ),
    ).toEqual(['defer: abandoned by service restart', 'interrupted by service restart']);
    expect(briefly(events('parked'))).toEqual(['task_deferred_abandoned', 'session_end failed']);
  });
});

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

  it('can be read and are not touched, and who decides one is told which release can', async () => {
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
