import type { PoolClient } from 'pg';
import type { Db, PgBoss } from 'pg-boss';
import { deadlineId, workId } from './job-ids.ts';
import { deadlines, works } from './job-queues.ts';

/** Maximum jobs per insert. */
const most = 1_000;

/** Number of jobs created for copied tasks. */
export interface CopiedJobs {
  /** Running tasks, assigned to the first daemon that asks. */
  working: number;
  waiting: number;
}

/** Creates the jobs of copied tasks in the same transaction. */
export async function copyJobs(
  boss: Pick<PgBoss, 'insert'>,
  client: Pick<PoolClient, 'query'>,
): Promise<CopiedJobs> {
  const db: Db = { executeSql: (text, values) => client.query(text, values) };
  const working = await idsWhere(client, "state IN ('submitted', 'working')");
  const waiting = await idsWhere(client, 'deadline_at IS NOT NULL');
  for (const some of parts(working)) {
    const jobs = some.map(({ id }) => ({ id: workId(id), data: { task: id } }));
    await boss.insert(works, jobs, { db });
  }
  for (const some of parts(waiting)) {
    const jobs = some.map(({ id, at }) => ({
      id: deadlineId(id),
      data: { task: id },
      startAfter: new Date(at).toISOString(),
    }));
    await boss.insert(deadlines, jobs, { db });
  }
  return { working: working.length, waiting: waiting.length };
}

interface Waiting {
  id: string;
  at: number;
}

async function idsWhere(client: Pick<PoolClient, 'query'>, condition: string): Promise<Waiting[]> {
  const sql = `SELECT id, deadline_at AS at FROM tasks WHERE ${condition} ORDER BY position`;
  return (await client.query<Waiting>(sql)).rows;
}

function* parts<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let first = 0; first < items.length; first += most) yield items.slice(first, first + most);
}
