import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Where the kernel leads on from an open folder, whatever has become of its path. */
const descriptors = '/proc/self/fd';
const canFollowDescriptors = existsSync(descriptors);

/** An open folder; what it is asked for lies in it even when its path leads elsewhere by now. */
export class FolderHandle implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens a folder by its path. Rejects with an Error with a `code`. */
  static async open(path: string): Promise<FolderHandle> {
    return new FolderHandle(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  /** The path of an entry, through this very folder where the system can do so. */
  at(name: string): string {
    return join(canFollowDescriptors ? `${descriptors}/${this.#handle.fd}` : this.#path, name);
  }

  /** The path of the folder itself. */
  get self(): string {
    return canFollowDescriptors ? `${descriptors}/${this.#handle.fd}` : this.#path;
  }

  /** Opens a folder in it that is none of its links. Rejects with an Error with a `code`. */
  async enter(name: string): Promise<FolderHandle> {
    const handle = await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return new FolderHandle(handle, join(this.#path, name));
  }

  /** Makes a folder in it, unless one is there. */
  async make(name: string): Promise<void> {
    await mkdir(this.at(name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  }

  /** Sees that what was made, renamed or removed in it is on disk. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}
