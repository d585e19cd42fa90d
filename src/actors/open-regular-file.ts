import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Opens a file for reading. Rejects, without blocking, for a pipe, a device or a folder. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if ((await handle.stat()).isFile()) return handle;
    throw new Error(`${path} is no file`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}
