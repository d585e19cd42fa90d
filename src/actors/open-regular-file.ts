import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Opens a file to read it. Rejects, without waiting, for a pipe, a device and a folder. */
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
