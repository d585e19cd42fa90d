import { join } from 'node:path';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

const [, , directory = ''] = process.argv;
const path = join(directory, 'audit.ndjson');

// Without a listener the system ends a process that writes beyond its limit.
process.on('SIGXFSZ', () => undefined);

// Writes until the system refuses to let a file grow, and says on its output what came of it.
const store = await SqliteStore.open({
  path: join(directory, 'tasks.db'),
  audit: { path, chain: true },
});
let kept = 0;
let refused = false;
for (let number = 0; number < 500 && !refused; number += 1) {
  const event = { ...anEvent(`t-${number}`), fields: { note: 'x'.repeat(12_000) } };
  await store.record([event]).then(
    () => {
      kept += 1;
    },
    () => {
      refused = true;
    },
  );
}
const { ok } = await verifyLog(path);
const isComplete = eventsOf(path).length === kept;
process.stdout.write(JSON.stringify({ refused, ok, isComplete }));
// What the limit keeps from being synced is in the outbox.
process.exit(0);
