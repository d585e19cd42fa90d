import { dirname, join } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';

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
