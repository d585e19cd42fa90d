import { open } from 'node:fs/promises';

/** Creates a file durably without overwriting; `mode` applies from its creation. */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  mode = 0o644,
): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
