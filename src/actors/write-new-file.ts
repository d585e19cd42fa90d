import { open } from 'node:fs/promises';

/** Makes a file that outlives a power cut, over nothing that is there; `mode` is what it may be from its first moment. */
export async function writeNewFile(path: string, content: string, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
