import { z } from 'zod';

/** A backup that cannot be used; the message gives reason and remedy. */
export class BackupError extends Error {
  readonly code = 'backup_unusable';
}

/** Version of the layout below; a later one is refused. Version 1 had no signature. */
export const format = 2;

/** First entry of a backup. */
export const headEntry = 'backup.json';

/**
 * Last entry: the digests of all files, and a signature of them and the first entry. A file without it was cut.
 */
export const endEntry = 'end.json';

/** Path of the store in a backup. */
export const storeEntry = 'state/tasks.db';

/** Schema of the first entry. */
export const headSchema = z.object({
  format: z.int(),
  agent_id: z.string(),
  release: z.string(),
  created_at: z.iso.datetime(),
  store_version: z.int(),
});

/** A file as it was written. */
const fileSchema = z.object({
  sha256: z.string(),
  /** Permissions; version 1 lacks them. */
  mode: z.int().optional(),
  /** Number of bytes to keep of a file that shrank while it was read; the rest is filled with zeros. */
  bytes: z.int().min(0).optional(),
});

export type ManifestFile = z.infer<typeof fileSchema>;

/** Schema of the last entry, also of version 1. */
export const endSchema = z.union([
  z.object({ files: z.record(z.string(), fileSchema) }),
  z.record(z.string(), z.string()).transform((digests) => ({ files: filesOf(digests) })),
]);

/** The last entry of a backup. */
export type End = z.infer<typeof endSchema>;

/** Describes a backup (its `backup.json`). */
export type BackupHead = z.infer<typeof headSchema>;

/** Folders of a backup: the agent's own files, its store, and its log. */
export const backupFolders = ['agent', 'state', 'log'] as const;

function filesOf(digests: Record<string, string>): Record<string, ManifestFile> {
  return Object.fromEntries(Object.entries(digests).map(([path, sha256]) => [path, { sha256 }]));
}
