import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { migrateStore } from '../../src/actors/records/postgres/migrate-store.ts';
import { emptySchema } from '../helpers/kept-store.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { memoryFolder } from './memory-folder.ts';

/** Starts the PostgreSQL that the agents of all tests share, with tables that are empty; it goes with the run. */
export async function setup(): Promise<() => Promise<void>> {
  // Next to the folder of this run, which may be removed first.
  const memory = memoryFolder();
  const parent = memory === null ? tmpdir() : dirname(memory);
  const server = await PostgresServer.start({
    ...{ parent, connections: 400 },
    // No test has this server fall over.
    settings: ['synchronous_commit=off'],
  });
  try {
    const url = server.url();
    await migrateStore({ url: () => url, schema: emptySchema, agentId: 'nobody' });
    process.env['HOLDPOINT_TEST_DATABASE'] = url;
    return () => server.remove();
  } catch (error) {
    await server.remove();
    throw error;
  }
}
