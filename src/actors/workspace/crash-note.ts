import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readSmallFile, writePrivately } from '../process/process.ts';

const crashNote = z.object({ error: z.string().max(8_192), at: z.string().max(64) });

/** Returns why the last process of an agent ended, as somebody noted it; `null` for a clean end. */
export function readCrashNote(directory: string): string | null {
  const text = readSmallFile(pathOf(directory));
  if (text === null) return null;
  try {
    return crashNote.safeParse(JSON.parse(text)).data?.error ?? null;
  } catch {
    return null;
  }
}

/** Notes why the last process of an agent ended, for whoever looks next; the next start removes it. */
export function writeCrashNote(directory: string, error: string): void {
  const note = { error, at: new Date().toISOString() };
  writePrivately(pathOf(directory), `${JSON.stringify(note)}\n`);
}

/** Removes the note of an agent that has been started, or stopped as it was asked to. */
export function removeCrashNote(directory: string): void {
  rmSync(pathOf(directory), { force: true });
}

function pathOf(directory: string): string {
  return join(directory, '.service', 'serve.error.json');
}
