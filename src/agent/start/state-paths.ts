import { dirname, join, resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { logFilesOf } from '../../actors/records/records.ts';

/**
 * Lists the paths of an agent's state, which scripts and tools must not see. Relative paths are relative to the agent's
 * folder.
 */
export function statePaths({ store, audit, secrets }: ServiceConfig): string[] {
  return [
    ...['.service', store.path, audit.path, secrets.path, join(dirname(secrets.path), '.env')],
    // A process that can write next to a collector's socket can replace the socket or connect to it.
    ...audit.sinks.flatMap((sink) => (sink.type === 'unix' ? [sink.path] : [])),
  ];
}

/** Lists the absolute paths of the files of an agent's store and log that exist or may exist. */
export function stateFiles(directory: string, { store, audit }: ServiceConfig): string[] {
  const [database, log] = [resolve(directory, store.path), resolve(directory, audit.path)];
  return [
    ...['', '-wal', '-shm', '-journal'].map((end) => `${database}${end}`),
    log,
    ...logFilesOf(log),
  ];
}
