import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writePrivately } from '../../actors/process/process.ts';
import { parseJson } from '../../machines/json.ts';

const noteSchema = z.object({
  /** Release before the upgrade; `null` if it is unknown. */
  from: z.string().nullable(),
  to: z.string(),
  /** Path of the backup; `null` for an agent without tasks. */
  backup: z.string().nullable(),
  /** The public key that signed the backup; `null` without a signature. */
  signed_by: z.object({ kid: z.string(), x: z.string() }).nullable().default(null),
  at: z.string(),
});

/** The last upgrade of an agent, which a rollback undoes. */
export type UpgradeNote = z.infer<typeof noteSchema>;

function pathOf(directory: string): string {
  return join(directory, '.service', 'upgrade.json');
}

/** Records an upgrade. */
export function writeUpgradeNote(directory: string, note: UpgradeNote): void {
  writePrivately(pathOf(directory), `${JSON.stringify(note)}\n`);
}

/** Returns the last upgrade; `null` for none. */
export function readUpgradeNote(directory: string): UpgradeNote | null {
  const path = pathOf(directory);
  if (!existsSync(path)) return null;
  return noteSchema.safeParse(parseJson(readFileSync(path, 'utf8'))).data ?? null;
}

/** Forgets the last upgrade, once it is undone. */
export function removeUpgradeNote(directory: string): void {
  rmSync(pathOf(directory), { force: true });
}
