import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../read-small-file.ts';
import { assertOwnFolder, makeStateFolder, stateFolderOf } from './state-folder.ts';
import { writePrivately } from './write-privately.ts';

/** A note of this user about a folder. */
export interface OwnNote {
  /** Returns the text; `null` if there is none. */
  read(): string | null;
  /** Replaces the text, or removes the note; failures are ignored. */
  write(text: string | null): void;
}

/**
 * Opens a note about a folder. It is stored under `$XDG_STATE_HOME/holdpoint` and not in the folder, which is
 * untrusted: a file that comes with a folder is not a note of this user.
 */
export function ownNote(
  kind: 'dashboards' | 'starts',
  directory: string,
  env: NodeJS.ProcessEnv,
): OwnNote {
  const state = stateFolderOf(env);
  if (state === null) return { read: () => null, write: () => undefined };
  const folder = join(state, kind);
  const path = join(folder, hash('sha256', directory).slice(0, 32));
  return {
    read: () =>
      attempt(() => {
        assertOwnFolder(folder);
        return readSmallFile(path);
      }),
    write(text) {
      attempt(() => {
        if (text === null) return rmSync(path, { force: true });
        makeStateFolder(folder);
        writePrivately(path, text);
      });
    },
  };
}

function attempt<Result>(act: () => Result): Result | null {
  try {
    return act();
  } catch {
    return null;
  }
}
