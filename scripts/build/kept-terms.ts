import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledPackage, nameOf } from './bundled-packages.ts';

/** The terms of a package that brings no text of them, from its repository. */
interface KeptText {
  name: string;
  /** An exact version, or the beginning of one followed by `x`, such as `3.x`. */
  versions: string;
  file: string;
  source: string;
}

/** Finds the terms of packages that bring none. */
export class KeptTerms {
  readonly #folder: string;
  readonly #texts: readonly KeptText[];
  readonly #used = new Set<KeptText>();

  /** Reads `licenses.json` of a folder, and later the texts that it names. */
  constructor(folder: string = join(import.meta.dirname, 'licenses')) {
    this.#folder = folder;
    const list = readFileSync(join(folder, 'licenses.json'), 'utf8');
    this.#texts = JSON.parse(list) as KeptText[];
  }

  /** Returns the text for a package. Throws for a package or a version that has none. */
  textOf({ name, version, license }: BundledPackage): string {
    const kept = this.#texts.find((one) => one.name === name && covers(one.versions, version));
    if (kept === undefined) {
      throw new Error(
        `${nameOf({ name, version })} brings no text of ${license}; put the one of its repository into scripts/build/licenses`,
      );
    }
    this.#used.add(kept);
    return readFileSync(join(this.#folder, kept.file), 'utf8').trim();
  }

  /** Throws for a string that no package needed. */
  refuseIdle(): void {
    const idle = this.#texts.find((one) => !this.#used.has(one));
    if (idle === undefined) return;
    throw new Error(
      `scripts/build/licenses has an unneeded text for ${idle.name} ${idle.versions}; remove it`,
    );
  }
}

function covers(versions: string, version: string): boolean {
  return versions.endsWith('x') ? version.startsWith(versions.slice(0, -1)) : version === versions;
}
