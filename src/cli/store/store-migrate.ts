import { loadSharedStore } from '../../actors/records/records.ts';
import type { Session } from '../session.ts';
import { sharedAgent } from './shared-agent.ts';

export interface StoreMigrateOptions {
  dir: string;
}

/** `store migrate`: migrates the tables of an agent and its job engine, and prints their previous versions. */
export async function storeMigrate(session: Session, { dir }: StoreMigrateOptions): Promise<void> {
  const { output } = session;
  const { address } = await sharedAgent(session, dir);
  const { migrateStore } = await loadSharedStore();
  const { tables, jobs } = await migrateStore(address);
  const { schema } = address;
  output.line(`tables of ${schema}: ${tellVersions(tables)}`);
  output.line(`tables of its job engine, ${schema}_jobs: ${tellVersions(jobs)}`);
  output.json({ schema, tables, jobs });
}

function tellVersions({ before, after }: { before: number | null; after: number }): string {
  if (before === after) return `version ${after}, as before`;
  return `version ${after}, before ${before === null ? 'none' : `version ${before}`}`;
}
