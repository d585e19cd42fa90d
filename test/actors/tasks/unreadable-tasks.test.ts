import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { unreadable } from '../../../src/machines/task/failure-of.ts';
import { patient } from '../../helpers/patient.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  playing,
  toolCalled,
} from '../../helpers/system-story.ts';
import { openSystem, storeFiles, type TestSystem } from '../../helpers/test-system.ts';

const text = 'the record of this task is damaged; its outcome is only in the audit log';

/** A system that is stopped with a task at work, one that waits and one that has ended. */
async function stopped(): Promise<TestSystem> {
  const slow = toolCalled('slow', () => gate().opened.then(() => ''));
  const before = await openSystem({ tools: [toolCalled('pay'), slow], deferred: { pay: {} } });
  await ends(before.system, await before.system.open(playing([{ say: 'hi' }], { id: 'ended' })));
  await parks(before.system, playing([{ tool: 'pay' }], { id: 'parked' }));
  await before.system.open(playing([{ tool: 'slow' }], { id: 'working' }));
  await before.store.flush();
  await before.stop();
  return before;
}

function damage({ directory }: TestSystem, column: string, id?: string): void {
  const database = new DatabaseSync(storeFiles(directory).path);
  const sql = `UPDATE tasks SET ${column} = '{"cut o' WHERE ${column} IS NOT NULL AND id = ifnull(?, id)`;
  database.prepare(sql).run(id ?? null);
  database.close();
}

function again({ directory, clock }: TestSystem, onRestart: 'abandon' | 'resume') {
  return openSystem({
    directory,
    clock,
    onRestart,
    tools: [toolCalled('pay')],
    deferred: { pay: {} },
  });
}

describe.each(['task', 'contents', 'snapshot'])('a task whose %s is not JSON', (column) => {
  it.each(['abandon', 'resume'] as const)('does not prevent the start (%s)', async (onRestart) => {
    const before = await stopped();
    damage(before, column);
    const { system, store, events, logged, verify } = await again(before, onRestart);
    expect(await store.flush()).toBeNull();
    const task = await ends(system, 'working');
    expect(task).toMatchObject({ id: 'working', state: 'failed', text, failure: unreadable });
    expect(briefly(events('working')).slice(-2)).toEqual([
      'task_unreadable working',
      'session_end failed',
    ]);
    expect(events('working').map(({ seq }) => seq)).toEqual(
      events('working').map((_, index) => index + 1),
    );
    expect(logged).toContainEqual({
      level: 'error',
      fields: { task_id: 'working' },
      message: 'task: its record cannot be read, so the task failed',
    });
    expect((await system.reads.list({ limit: 9 })).tasks).toHaveLength(3);
    expect(await verify()).toMatchObject({ ok: true });
  });
});

describe('a damaged waiting task', () => {
  it('is ended by a decision, which finds nothing pending', async () => {
    const before = await stopped();
    damage(before, 'task', 'parked');
    const { system, clock, events, store } = await again(before, 'resume');
    expect(await system.reads.find('parked')).toMatchObject({ state: 'failed', text });
    expect(await system.decide('parked', decision('approve', clock.now()))).toEqual({
      kind: 'notPending',
    });
    expect(await store.flush()).toBeNull();
    expect(briefly(events('parked')).slice(-2)).toEqual([
      'task_unreadable deferred',
      'session_end failed',
    ]);
    expect(await store.rows.countByState()).toMatchObject({ failed: 2, completed: 1 });
  });

  it('is ended by its deadline at the latest', async () => {
    const before = await stopped();
    damage(before, 'task', 'parked');
    const { system, clock, store } = await again(before, 'resume');
    clock.advance(86_400_000);
    await vi.waitFor(async () => expect(await store.rows.count('deferred')).toBe(0), patient);
    expect(await system.reads.find('parked')).toMatchObject({ state: 'failed', text });
  });
});

describe('a damaged ended task', () => {
  it('is reported as failed, stays, and can run again', async () => {
    const before = await stopped();
    damage(before, 'task', 'ended');
    const { system, store } = await again(before, 'resume');
    expect(await system.reads.find('ended')).toMatchObject({ id: 'ended', state: 'failed', text });
    expect(await store.rows.count('completed')).toBe(1);
    const id = await system.open(playing([{ say: 'again' }], { id: 'ended' }));
    expect(await ends(system, id)).toMatchObject({ state: 'completed', text: 'again' });
  });
});
