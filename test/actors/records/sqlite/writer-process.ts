import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';

const [, , path = '', auditPath = '', name = '', times = '0'] = process.argv;

// Opens the store again and again, while others write to it, and records one event each time.
for (let round = 0; round < Number(times); round += 1) {
  const store = await SqliteStore.open({ path, audit: { path: auditPath, chain: true } });
  await store.record([
    { event: 'tool_exec', ts: '2026-07-01T09:00:00.000Z', task_id: name, seq: round + 1 },
  ]);
  await store.close();
  process.send?.(round);
}
process.disconnect?.();
