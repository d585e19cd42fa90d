import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../machines/json.ts';
import { readSmallFile, writePrivately } from '../process/process.ts';

const crashNote = z.object({ error: z.string().max(8_192), at: z.string().max(64) });

/** Returns the recorded reason why the last process of an agent ended; `null` after a clean end. */
export function readCrashNote(directory: string): string | null {
  const text = readSmallFile(pathOf(directory));
  if (text === null) return null;
  return crashNote.safeParse(parseJson(text)).data?.error ?? null;
}

/** Records why the last process of an agent ended; the next start removes the record. */
export function writeCrashNote(directory: string, error: string): void {
  const note = { error, at: new Date().toISOString() };
  writePrivately(pathOf(directory), `${JSON.stringify(note)}\n`);
}

/** Removes the record of an agent that was started, or stopped on request. */
export function removeCrashNote(directory: string): void {
  rmSync(pathOf(directory), { force: true });
}

function pathOf(directory: string): string {
  return join(directory, '.service', 'serve.error.json');
}
