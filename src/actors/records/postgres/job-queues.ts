import type { ConstructorOptions, Db, PgBoss } from 'pg-boss';
import { makeSchema } from './make-schema.ts';

/** Queue of running tasks. */
export const works = 'tasks';

/** Queue of parked tasks with a deadline. */
export const deadlines = 'deadlines';

/** Queue of periodic work, done by one daemon at a time. */
export const retention = 'retention';
export const checkpoints = 'checkpoints';

/**
 * Heartbeat timeout in seconds, after which the engine reassigns a job; this is the engine's minimum. A disconnected
 * daemon is detected sooner, by the loss of its lock.
 */
const heartbeat = 10;

/** Returns the schema of the engine's tables for an agent's schema. */
export function jobSchemaOf(schema: string): string {
  return `${schema}_jobs`;
}

/** Starts the engine on a database, and creates its tables and queues on first use; the caller must stop it. */
export async function startEngine(
  db: Db,
  schema: string,
  options: Partial<ConstructorOptions> & { onError: (error: Error) => void },
): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss');
  const { onError, ...others } = options;
  await db.executeSql(makeSchema(schema));
  const boss = new PgBoss({
    db,
    schema,
    createSchema: false,
    // Stored warnings would never be read.
    persistWarnings: false,
    reindex: false,
    monitorVacuum: false,
    // Its spans describe its own queues and would clutter the agent's traces.
    openTelemetry: { enabled: false },
    ...others,
  });
  boss.on('error', (error) => onError(errorOf(error)));
  await boss.start();
  await createQueues(boss);
  return boss;
}

async function createQueues(boss: PgBoss): Promise<void> {
  const tries = { retryLimit: 100_000, retryDelay: 1 };
  const soonGone = { deleteAfterSeconds: 60 };
  await boss.createQueue(works, {
    ...tries,
    ...soonGone,
    heartbeatSeconds: heartbeat,
    expireInSeconds: 86_399,
  });
  await boss.createQueue(deadlines, {
    ...tries,
    ...soonGone,
    retryBackoff: true,
    retryDelayMax: 30,
  });
  for (const [queue, cron] of [
    [retention, '*/10 * * * *'],
    [checkpoints, '*/5 * * * *'],
  ] as const) {
    await boss.createQueue(queue, { ...soonGone, policy: 'stately' });
    await boss.schedule(queue, cron);
  }
}

/** The engine reports errors of its workers as objects that are not Errors. */
function errorOf(told: Error): Error {
  return told instanceof Error ? told : Object.assign(new Error(), told);
}
