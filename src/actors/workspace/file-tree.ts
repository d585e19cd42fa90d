import { AddSkillError } from './add-skill.ts';

/** Files by their paths with `/`, relative to a folder; `null` for a link or a device, which is never read. */
export type FileTree = ReadonlyMap<string, Buffer | null>;

/** Bounds of what is read from a folder or archive. */
export const treeLimits = {
  files: 2_000,
  bytes: 32 * 1024 * 1024,
  depth: 12,
};

/** Entries of systems and editors that belong to no skill. */
const foreign = new Set(['.git', '.DS_Store', '__MACOSX', '__pycache__', 'node_modules']);

// Windows refuses these, and a terminal would follow some of them.
const unsafeName = /[\p{Cc}\p{Cf}\u2028\u2029\\:*?"<>|]/u;

/** Collects files of an untrusted source; each method throws an AddSkillError for what does not belong in a skill. */
export class TreeBuilder {
  readonly #files = new Map<string, Buffer | null>();
  readonly #seen = new Map<string, string>();
  readonly #folders = new Set<string>();
  #bytes = 0;

  get files(): FileTree {
    return this.#files;
  }

  /** Bytes that may still be added. */
  get left(): number {
    return treeLimits.bytes - this.#bytes;
  }

  /**
   * Checks a path of the source, and returns it in its normal form; `null` for a folder or file that is passed over.
   */
  accept(written: string): string | null {
    const steps = written.split('/').filter((step) => step !== '' && step !== '.');
    const isOutside = written.startsWith('/') || steps.includes('..');
    if (isOutside || steps.some((step) => unsafeName.test(step) || Buffer.byteLength(step) > 200)) {
      throw refused(`${JSON.stringify(written.slice(0, 200))} is no path inside a folder`);
    }
    if (steps.length > treeLimits.depth) {
      throw refused(`its folders are nested deeper than ${treeLimits.depth} levels`);
    }
    return steps.length === 0 || steps.some((step) => foreign.has(step)) ? null : steps.join('/');
  }

  add(path: string, content: Buffer | null): void {
    // Some file systems take names that differ in case or in the form of accents for one.
    const name = path.normalize('NFC').toLowerCase();
    const other = this.#seen.get(name);
    if (other !== undefined) throw refused(`${path} and ${other} are one file on some systems`);
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
      this.#folders.add(name.slice(0, end));
      if (this.#seen.has(name.slice(0, end))) throw refused(`${path} is below a file`);
    }
    if (this.#folders.has(name)) throw refused(`${path} is a file and a folder`);
    this.#seen.set(name, path);
    this.#bytes += content?.length ?? 0;
    if (this.left < 0) throw tooLarge();
    this.#files.set(path, content);
    if (this.#files.size > treeLimits.files) {
      throw refused(`it has more than ${treeLimits.files} files`);
    }
  }
}

export function tooLarge(): AddSkillError {
  return refused(`it has more than ${treeLimits.bytes / 1024 / 1024} MiB`);
}

export function refused(reason: string): AddSkillError {
  return new AddSkillError('skill_unusable', `the source cannot be used: ${reason}`);
}
