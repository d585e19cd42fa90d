import { TaskStore } from '../../../../src/actors/records/store/task-store.ts';

const [, , path = '', auditPath = '', name = '', times = '0'] = process.argv;

// Opens the store again and again, while others write to it, and records one event each time.
for (let round = 0; round < Number(times); round += 1) {
  const store = await TaskStore.open({ path, audit: { path: auditPath, chain: true } });
  await store.record([
    { event: 'tool_exec', ts: '2026-07-01T09:00:00.000Z', task_id: name, seq: round + 1 },
  ]);
  store.close();
  process.send?.(round);
}
process.disconnect?.();
