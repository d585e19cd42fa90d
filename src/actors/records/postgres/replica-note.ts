import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const names = z.array(z.string()).max(100);

/**
 * A small file in the agent's state folder with the names of its recent daemons in a database. Only one daemon at a
 * time has the folder, so all daemons named there are gone, even before the database notices. If the file is missing, a
 * daemon starts anyway and gives them time to reconnect.
 */
export class ReplicaNote {
  /** Daemons that used the folder before and are gone. */
  readonly gone: readonly string[];
  readonly #path: string;

  /** @param folder the state folder, locked by this daemon */
  constructor(folder: string) {
    this.#path = join(folder, 'replicas.json');
    this.gone = read(this.#path);
  }

  /** Records a daemon that is about to join. */
  joins(replica: string): void {
    this.#write([...this.gone.slice(-50), replica]);
  }

  /** Records that a daemon has joined; earlier ones are dropped. */
  joined(replica: string): void {
    this.#write([replica]);
  }

  #write(replicas: string[]): void {
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify(replicas), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // Without the note, the next daemon gives this one time to reconnect.
    }
  }
}

function read(path: string): string[] {
  try {
    return names.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}
