import { stat } from 'node:fs/promises';
import { openRegularFile } from '../../actors/open-regular-file.ts';
import { verifyFiles } from '../../actors/records/records.ts';
import type { AuditVerdictJson } from '../../http/wire/dashboard/audit-json.ts';

/** Logs whose verdict is kept. */
const mostKept = 256;

interface Kept {
  /** What tells the files from those that were verified. */
  state: string;
  verdict: Promise<AuditVerdictJson>;
}

/** Verifies logs, each once for what it holds: a page that is looked at often costs nothing more. */
export class AuditVerdicts {
  readonly #verify: typeof verify;
  readonly #kept = new Map<string, Kept>();

  constructor(given: typeof verify = verify) {
    this.#verify = given;
  }

  /** Returns the verdict on a log that lies in these files, oldest first. Rejects when one cannot be read. */
  async of(files: readonly string[]): Promise<AuditVerdictJson> {
    const name = files.at(-1) ?? '';
    const state = await stateOf(files);
    const known = this.#kept.get(name);
    if (known?.state === state) return known.verdict;
    const verdict = this.#verify(files);
    const kept = { state, verdict };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    verdict.catch(() => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
    });
    return verdict;
  }
}

async function stateOf(files: readonly string[]): Promise<string> {
  const states = files.map(async (file) => {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [file, ino, size, mtimeNs, ctimeNs].join('\n');
  });
  return (await Promise.all(states)).join('\n\n');
}

/** Counts every line, also those after the first bad one. */
async function verify(files: readonly string[]): Promise<AuditVerdictJson> {
  let isOver = false;
  const verdict = await verifyFiles(files, { onBreak: () => (isOver = true), isRegular: true });
  if (verdict.ok) return { ok: !isOver, events: verdict.events };
  const { line, reason } = verdict;
  return { ok: false, events: await countLines(files), problem: reason, line };
}

async function countLines(files: readonly string[]): Promise<number> {
  let count = 0;
  for (const file of files) {
    const handle = await openRegularFile(file);
    for await (const chunk of handle.createReadStream()) {
      for (const byte of chunk as Buffer) if (byte === 10) count += 1;
    }
  }
  return count;
}
