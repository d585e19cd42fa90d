import { endConnection } from './postgres-connection.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Something that one daemon alone has, until its connection is gone. */
export interface SessionLock {
  /** Resolves when it was lost, and when it was let go of. */
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/** Takes a lock of a name that one daemon over a schema can have; `null` while another one has it. Rejects with UnconnectedError, or the driver's error. */
export async function takeSessionLock(
  database: PostgresDatabase,
  name: string,
): Promise<SessionLock | null> {
  const client = await database.connect();
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [`${name} of ${database.schema}`],
    );
    if (rows[0]?.taken === true) return { lost, release: () => endConnection(client) };
  } catch (error) {
    await endConnection(client);
    throw error;
  }
  await endConnection(client);
  return null;
}
