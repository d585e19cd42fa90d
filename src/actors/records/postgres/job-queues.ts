import type { ConstructorOptions, Db, PgBoss } from 'pg-boss';
import { makeSchema } from './make-schema.ts';

/** Tasks at work. */
export const works = 'tasks';

/** Parked tasks whose deadline is to come. */
export const deadlines = 'deadlines';

/** What is done now and then, by one daemon at a time. */
export const retention = 'retention';
export const checkpoints = 'checkpoints';

/**
 * The seconds without a sign of life after which the engine gives a job out again, and the least that it knows. A daemon
 * whose connection is gone is noticed sooner, by the lock that went with it.
 */
const heartbeat = 10;

/** Names the schema of the engine's tables, given that of an agent's. */
export function jobSchemaOf(schema: string): string {
  return `${schema}_jobs`;
}

/** Starts the engine over a database, and makes its tables and queues on first use; the caller stops it. */
export async function startEngine(
  db: Db,
  schema: string,
  options: Partial<ConstructorOptions> & { onError: (error: Error) => void },
): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss');
  const { onError, ...others } = options;
  await db.executeSql(makeSchema(schema));
  const boss = new PgBoss({
    ...{ db, schema, createSchema: false },
    // Nobody reads them there.
    persistWarnings: false,
    reindex: false,
    monitorVacuum: false,
    // Its spans are about its own queues, and would stand in the traces of the agent.
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
    ...{ ...tries, ...soonGone },
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

/** The engine tells of what its workers ran into by objects that are no errors. */
function errorOf(told: Error): Error {
  return told instanceof Error ? told : Object.assign(new Error(), told);
}
