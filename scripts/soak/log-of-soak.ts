import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RecordedEvent, verifyFiles } from '../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../src/actors/records/log/log-files.ts';
import { SqliteStore } from '../../src/actors/records/sqlite/sqlite-store.ts';
import type { Task } from '../../src/machines/domain/task.ts';

/** Opens the store of a soak, whose log continues in a further file every few commits. */
export function rotatingStore(directory: string): Promise<SqliteStore> {
  return SqliteStore.open({
    path: join(directory, 'tasks.db'),
    audit: {
      path: join(directory, 'audit.ndjson'),
      chain: true,
      rotation: { maxBytes: 4_096, daily: false, keep: 0 },
    },
  });
}

/** What the writers have told, over all lives: the revision of each task that was on disk. */
export type Told = Map<string, number>;

/** Where a reading of the log ended, so that the next one need not begin anew. */
export interface Standing {
  files: number;
  head: string;
  written: Map<string, number>;
}

/**
 * Opens what a killed writer left, and returns what is wrong with it, one sentence each: a chain that
 * does not verify, a torn line, something told that is not kept, a task that the log says less or more of.
 * Only files that were not there before are read.
 */
export async function whatIsWrong(
  directory: string,
  told: Told,
  standing: Standing,
): Promise<string[]> {
  const store = await rotatingStore(directory);
  await store.record([{ event: 'tool_exec', ts: new Date().toISOString(), task_id: 'looked' }]);
  await store.close();
  const files = logFilesOf(join(directory, 'audit.ndjson')).slice(standing.files);
  const verdict = await verifyFiles(
    files,
    standing.files === 0 ? {} : { continuedFrom: standing.head },
  );
  const wrong = verdict.ok ? [] : [`${verdict.file}:${verdict.line}: ${verdict.reason}`];
  const written = new Map(standing.written);
  for (const [index, file] of files.entries()) {
    for (const event of eventsIn(file)) count(event, written);
    // What follows says where this file ended; the current one is read again the next time.
    const head = hashBefore(files[index + 1]);
    if (head === null) continue;
    standing.written = new Map(written);
    standing.files += 1;
    standing.head = head;
  }
  const rows = await storedTasks(directory);
  return [
    ...wrong,
    ...[...told].flatMap(([id, revision]) =>
      (rows.get(id) ?? 0) < revision ? [`${id} was reported as stored and is not`] : [],
    ),
    ...[...rows].flatMap(([id, revision]) =>
      written.get(id) === revision
        ? []
        : [`${id} has revision ${revision} and ${written.get(id) ?? 0} lines`],
    ),
    ...[...written.keys()].flatMap((id) =>
      rows.has(id) ? [] : [`${id} has lines and is not kept`],
    ),
  ];
}

function count({ task_id: id }: RecordedEvent, written: Map<string, number>): void {
  if (id !== undefined && id !== 'looked') written.set(id, (written.get(id) ?? 0) + 1);
}

function eventsIn(file: string): RecordedEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as RecordedEvent]));
}

/** The hash of the line before a file's first one; `null` when there is no such line yet. */
function hashBefore(file: string | undefined): string | null {
  const [first] = file === undefined ? [] : eventsIn(file);
  const hash = first?.['prev_hash'];
  return typeof hash === 'string' ? hash : null;
}

async function storedTasks(directory: string): Promise<Map<string, number>> {
  const store = await rotatingStore(directory);
  const tasks: Task[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.rows.listing.made({
      limit: 1_000,
      ...(cursor === null ? {} : { cursor }),
    });
    tasks.push(...page.tasks);
    ({ cursor } = page);
  } while (cursor !== null);
  await store.close();
  return new Map(tasks.map(({ id, revision }) => [id, revision]));
}
