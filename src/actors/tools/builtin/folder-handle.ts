import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Entries of open folders remain valid here, even if the folder's path has changed. */
const descriptors = '/proc/self/fd';
const canFollowDescriptors = existsSync(descriptors);

/** An open folder; its operations stay inside it even if its path now leads elsewhere. */
export class FolderHandle implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens a folder by path. Rejects with an Error with a `code`. */
  static async open(path: string): Promise<FolderHandle> {
    return new FolderHandle(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  /** Returns the path of an entry, relative to the open folder where the system supports it. */
  at(name: string): string {
    return join(canFollowDescriptors ? `${descriptors}/${this.#handle.fd}` : this.#path, name);
  }

  /** Path of the folder itself. */
  get self(): string {
    return canFollowDescriptors ? `${descriptors}/${this.#handle.fd}` : this.#path;
  }

  /** Opens a subfolder that is not a link. Rejects with an Error with a `code`. */
  async enter(name: string): Promise<FolderHandle> {
    const handle = await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return new FolderHandle(handle, join(this.#path, name));
  }

  /** Creates a subfolder unless it exists. */
  async make(name: string): Promise<void> {
    await mkdir(this.at(name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  }

  /** Flushes created, renamed and removed entries to disk. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}
