import { resolve } from 'node:path';
import { copyAgentStore } from '../../agent/backup/copy-agent-store.ts';
import { counted } from '../counted.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { sharedAgent } from './shared-agent.ts';

export interface StoreCopyOptions {
  dir: string;
  from: string;
  log?: string;
}

/**
 * `store copy`: copies the SQLite store and log of a stopped agent into its empty PostgreSQL database, and prints the
 * number of copied rows.
 */
export async function storeCopy(
  session: Session,
  { dir, from, log }: StoreCopyOptions,
): Promise<void> {
  const { output } = session;
  const agent = await sharedAgent(session, dir);
  const { config, address } = agent;
  const stop = showProgress(output, 'copying the store');
  const { rows, jobs, lines } = await copyAgentStore({
    ...agent,
    from: resolve(from),
    log: log === undefined ? config.audit.path : resolve(log),
  }).finally(stop);
  const tasks = rows['tasks'] ?? 0;
  const others = Object.values(rows).reduce((sum, count) => sum + count, 0) - tasks;
  output.line(
    plainLine(
      `copied to postgres:${address.schema}: ${counted(tasks, 'task')} (${jobs.working} at work, ${jobs.waiting} with a deadline), ${counted(others, 'other row')}, ${counted(lines, 'line')} of the audit log`,
    ),
  );
  output.json({ schema: address.schema, rows, jobs, lines });
}
