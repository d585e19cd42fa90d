import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import { failingDisk } from './failing-disk.ts';
import { type KeptStore, storeAround } from './kept-store.ts';
import { patient } from './patient.ts';
import type { TestAgent } from './test-agent.ts';

/** A store without room. */
export interface FullStore {
  /** Resolves once the agent has noticed it; one over PostgreSQL tries a commit for that, which waits for space. */
  noticed(): Promise<void>;
  /** Gives it room. */
  free(): Promise<void>;
  /** Gives it room, and resolves once the agent takes work again. */
  fix(): Promise<void>;
}

/** What cannot be written where nothing can. */
const everything = ['tasks', 'audit_lines', 'audit_head'].map(
  (table) => `INSERT OR UPDATE OR DELETE ON ${table}`,
);

/**
 * Has the store of an agent take no commit until it is mended; what was not committed is as if never written. `refused`
 * says what else PostgreSQL does not write.
 */
export async function fullStore(
  agent: Pick<TestAgent, 'folder' | 'get' | 'send'>,
  refused: readonly string[] = everything,
): Promise<FullStore> {
  const store = storeAround(agent.folder.path);
  const isReady = (status: number): Promise<void> =>
    vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(status), patient);
  const disk = store === null ? failingDisk() : null;
  const free = store === null ? async () => disk?.fix() : await fillDatabase(store, refused);
  onTestFinished(free);
  return {
    free,
    async noticed() {
      if (store === null) return;
      agent.send('waits-for-room', [{ say: 'hi' }]).catch(() => undefined);
      await isReady(503);
    },
    async fix() {
      await free();
      await isReady(200);
    },
  };
}

/** Has PostgreSQL itself refuse what would be written, with the code that it has for a disk without room. */
async function fillDatabase(
  { url, schema }: KeptStore,
  refused: readonly string[],
): Promise<() => Promise<void>> {
  const run = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`SET search_path = ${schema}; ${statements.join(';')}`);
    } finally {
      await client.end();
    }
  };
  await run(
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
    ...refused.map((write) => `CREATE TRIGGER full_disk BEFORE ${write} EXECUTE FUNCTION refuse()`),
  );
  const tables = refused.map((write) => write.slice(write.lastIndexOf(' ')));
  return () => run(...tables.map((table) => `DROP TRIGGER IF EXISTS full_disk ON ${table}`));
}
