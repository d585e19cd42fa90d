import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdpointHere } from '../cli/command-here.ts';
import type { Ended } from '../cli/holdpoint.ts';
import type { AgentFolder } from './agent-folder.ts';

/** Lets an agent that was on SQLite have its store in PostgreSQL; the file stays. */
export function moveToPostgres(folder: AgentFolder): void {
  const path = join(folder.path, 'service.yaml');
  const service = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...service, store: { kind: 'postgres' } }));
}

/** Runs commands with a database in the usual variable. */
export function commandsOver(url: string) {
  return (...args: string[]): Promise<Ended> =>
    holdpointHere(args, { env: { SERVICE_DATABASE_URL: url } });
}
