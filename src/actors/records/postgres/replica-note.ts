import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const names = z.array(z.string()).max(100);

/**
 * A small file in the folder of an agent's state that says under which names its daemons were among those over a
 * database. One daemon at a time has the folder, so whoever reads it knows that all of them are gone, before the
 * database can tell. Without it a daemon starts all the same, and leaves them the time to come back.
 */
export class ReplicaNote {
  /** The daemons that had the folder before; they are gone. */
  readonly gone: readonly string[];
  readonly #path: string;

  /** @param folder the folder of the state, which this daemon has locked */
  constructor(folder: string) {
    this.#path = join(folder, 'replicas.json');
    this.gone = read(this.#path);
  }

  /** Notes a daemon that is about to join. */
  joins(replica: string): void {
    this.#write([...this.gone.slice(-50), replica]);
  }

  /** Notes that a daemon has joined, which those before it no longer matter to. */
  joined(replica: string): void {
    this.#write([replica]);
  }

  #write(replicas: string[]): void {
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify(replicas), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // The next daemon then leaves this one the time to come back.
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
