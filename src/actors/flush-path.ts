import { open } from 'node:fs/promises';

/** Sees to it that what a file, or the list of a folder, holds by now outlives a power cut. */
export async function flushPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
