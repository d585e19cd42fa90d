import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../../../src/actors/ports/audit-event.ts';
import { logFilesOf } from '../../../../src/actors/records/log/log-files.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { nine, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

const ts = '2026-07-01T09:00:00.000Z';

/** An event of a run. */
const line = (id: string, seq: number, event: string, fields = {}): AuditEvent => ({
  event,
  ts,
  task_id: id,
  seq,
  correlation_id: `c-${id}`,
  fields: { tool: 'pay', ...fields },
});

const began = (id: string) => [
  line(id, 1, 'session_start'),
  line(id, 2, 'task_deferred', { to: 'channel:console:desk' }),
];

async function open(directory: string, chain = true, maxBytes = 0): Promise<SqliteStore> {
  const { path, audit } = storeFiles(directory, chain);
  const rotation = { maxBytes, daily: false, keep: 0 };
  const at = nine + 2_000;
  const store = await SqliteStore.open({
    path,
    audit: { ...audit, rotation, now: () => at, entity: { entity_id: 'till' } },
  });
  onTestFinished(async () => {
    try {
      await store.close();
    } catch {
      // The test has closed it.
    }
  });
  return store;
}

/** Writes a log, loses its store, and opens it again; returns what is said of that. */
async function afterLosing(events: AuditEvent[], chain = true, maxBytes = 0) {
  const directory = temporaryFolder();
  const { path, audit } = storeFiles(directory, chain);
  const store = await open(directory, chain, maxBytes);
  for (const event of events) await store.record([event]);
  await store.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  const before = eventsOf(audit.path).length;
  const again = await open(directory, chain, maxBytes);
  const { lost } = again.opening;
  await again.close();
  const said = eventsOf(audit.path).slice(before);
  return { directory, path: audit.path, lost, said };
}

const abandoned = (id: string, seq: number) => ({
  event: 'task_deferred_abandoned',
  entity_id: 'till',
  ts: '2026-07-01T09:00:02.000Z',
  task_id: id,
  seq,
  correlation_id: `c-${id}`,
  fields: { tool: 'pay', reason: 'store_lost', wait_ms: 2_000 },
  prev_hash: expect.any(String),
});

describe('a lost store with an intact log', () => {
  it('ends in the log every wait that can no longer be decided', async () => {
    const { lost, said, path } = await afterLosing([...began('t-1'), ...began('t-2')]);
    expect(lost).toEqual({ waiting: 2 });
    expect(said).toEqual([
      {
        event: 'store_lost',
        entity_id: 'till',
        ts: '2026-07-01T09:00:02.000Z',
        fields: { waiting: 2 },
        prev_hash: expect.any(String),
      },
      abandoned('t-1', 3),
      abandoned('t-2', 3),
    ]);
    expect(await verifyLog(path)).toMatchObject({ ok: true, events: 7 });
  });

  it.each<[string, AuditEvent[]]>([
    ['a rejection', [line('t-1', 3, 'task_deferred_decision', { decision: 'reject' })]],
    ['its timeout', [line('t-1', 3, 'task_deferred_timeout')]],
    ['its abandonment', [line('t-1', 3, 'task_deferred_abandoned')]],
    ['a cancel', [line('t-1', 3, 'invocation_cancelled')]],
    [
      'an approval and its start',
      [
        line('t-1', 3, 'task_deferred_decision', { decision: 'approve' }),
        line('t-1', 4, 'tool_exec', { phase: 'start' }),
      ],
    ],
  ])('does not mention a wait that had ended by %s', async (_name, end) => {
    const { lost, said } = await afterLosing([...began('t-1'), ...end]);
    expect([lost, said.map(({ event }) => event)]).toEqual([{ waiting: 0 }, ['store_lost']]);
  });

  it.each<[string, AuditEvent[]]>([
    ['a reminder', [line('t-1', 3, 'task_deferred_reminder')]],
    ['a message', [line('t-1', 3, 'message_received')]],
    ['another request', [line('t-1', 3, 'task_deferred_repeated')]],
    ['an escalation', [line('t-1', 3, 'task_deferred_escalated')]],
    [
      'a decision that was refused',
      [line('t-1', 3, 'task_deferred_decision', { decision: 'reject', authorized: false })],
    ],
    [
      'one approval of several',
      [line('t-1', 3, 'task_deferred_decision', { decision: 'approve' })],
    ],
    [
      'a message during it',
      [{ event: 'auth_fail', ts, task_id: 't-1' }, line('t-1', 3, 'egress_blocked')],
    ],
  ])('counts a wait as open after %s', async (_name, meanwhile) => {
    const { lost, said } = await afterLosing([...began('t-1'), ...meanwhile]);
    expect([lost, said[1]]).toEqual([{ waiting: 1 }, abandoned('t-1', 4)]);
  });

  it('finds the waits of a further run, and of finished files', async () => {
    const more = [
      line('t-1', 3, 'session_end', { state: 'failed' }),
      line('t-1', 4, 'session_start'),
      line('t-1', 5, 'task_deferred'),
      ...['a', 'b', 'c', 'd'].map((id) => line(id, 1, 'session_start')),
    ];
    const { lost, said, path } = await afterLosing([...began('t-1'), ...more], true, 400);
    expect(logFilesOf(path).length).toBeGreaterThan(2);
    expect(lost).toEqual({ waiting: 1 });
    expect(said.find(({ event }) => event === 'task_deferred_abandoned')).toEqual(
      abandoned('t-1', 6),
    );
    expect(await verifyLog(path)).toMatchObject({ ok: true });
  });

  it('finds them where the chain is off too', async () => {
    const { lost } = await afterLosing(began('t-1'), false);
    expect(lost).toEqual({ waiting: 1 });
  });

  it('reports this once', async () => {
    const { directory, path } = await afterLosing(began('t-1'));
    const lines = readFileSync(path, 'utf8');
    const again = await open(directory);
    expect(again.opening).toEqual({ behind: null, lost: null, restored: null, lines: null });
    await again.close();
    expect(readFileSync(path, 'utf8')).toBe(lines);
  });

  it('is not reported at the first start, nor for an empty log', async () => {
    const directory = temporaryFolder();
    writeFileSync(storeFiles(directory).audit.path, '');
    expect((await open(directory)).opening.lost).toBeNull();
    expect((await open(temporaryFolder())).opening.lost).toBeNull();
  });

  it('sends its lines to listeners of commits', async () => {
    const { directory } = await afterLosing(began('t-1'));
    const { path, audit } = storeFiles(directory);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    const heard: Uint8Array[] = [];
    const store = await SqliteStore.open({
      path,
      audit: { ...audit, onCommitted: (lines) => heard.push(lines) },
    });
    await store.close();
    expect(Buffer.concat(heard).toString()).toMatch(/^\{"event":"store_lost",[^\n]+\n$/);
  });
});
