import { randomBytes } from 'node:crypto';
import type { ChannelNameRows } from '../store/channel-name-rows.ts';
import { type KeyRows, keyLength } from '../store/key-rows.ts';
import type { ReleaseRows } from '../store/release-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to channel name rows in PostgreSQL. */
export function postgresChannelNames(database: PostgresDatabase): ChannelNameRows {
  return {
    async find(adapter, name) {
      const sql = 'SELECT id FROM channel_names WHERE adapter = $1 AND name = $2';
      return (await database.query<{ id: string }>(sql, [adapter, name]))[0]?.id;
    },
    async keep(adapter, name, id) {
      const sql = 'INSERT INTO channel_names VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
      await database.query(sql, [adapter, name, id]);
    },
  };
}

/** Creates the access to release rows in PostgreSQL: the release that introduced each version of the task chart. */
export function postgresReleases(database: PostgresDatabase): ReleaseRows {
  return {
    async find(machineVersion) {
      const sql = 'SELECT release FROM machine_releases WHERE machine_version = $1';
      const [row] = await database.query<{ release: string }>(sql, [machineVersion]);
      return row?.release ?? null;
    },
    async keep(machineVersion, release) {
      await database.query(
        `INSERT INTO machine_releases VALUES ($1, $2) ON CONFLICT (machine_version)
          DO UPDATE SET release = $2 WHERE machine_releases.release <> $2`,
        [machineVersion, release],
      );
    },
  };
}

/** Creates the access to the agent's key rows in PostgreSQL. */
export function postgresKeys(database: PostgresDatabase): KeyRows {
  return {
    async of(purpose) {
      const made = randomBytes(keyLength).toString('base64url');
      const sql = 'INSERT INTO agent_keys VALUES ($1, $2) ON CONFLICT DO NOTHING';
      await database.query(sql, [purpose, made]);
      const find = 'SELECT key FROM agent_keys WHERE purpose = $1';
      const [row] = await database.query<{ key: string }>(find, [purpose]);
      return Buffer.from(row?.key ?? made, 'base64url');
    },
  };
}
