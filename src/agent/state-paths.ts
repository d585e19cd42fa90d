import { dirname, join } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';

/** Names the paths of an agent's state, which neither scripts nor tools may see; those that are not absolute are taken from its folder. */
export function statePaths({ store, audit, secrets }: ServiceConfig): string[] {
  return [
    ...['.service', store.path, audit.path, secrets.path, join(dirname(secrets.path), '.env')],
    // Whoever may write beside the socket of a collector can stand in its place, or speak to it.
    ...audit.sinks.flatMap((sink) => (sink.type === 'unix' ? [sink.path] : [])),
  ];
}
