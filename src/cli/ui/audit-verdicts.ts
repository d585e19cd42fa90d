import type { AuditVerdictJson } from '../../http/wire/dashboard/audit-json.ts';

/** Logs whose verdict is kept. */
const mostKept = 256;

interface Kept {
  /** What tells the files from those that were verified. */
  state: string;
  verdict: Promise<AuditVerdictJson>;
  /** How many wait for it. */
  waiting: number;
  isOver: boolean;
  left: AbortController;
}

/** Verifies a log; rejects with the reason of the signal once it aborts. */
export type Verify = (signal: AbortSignal) => Promise<AuditVerdictJson>;

/** Verifies logs, each once for what it holds, and no longer than somebody waits for it. */
export class AuditVerdicts {
  readonly #kept = new Map<string, Kept>();

  /** Returns the verdict on a log in a `state`. Rejects when it cannot be read, or once the signal aborts. */
  async of(
    { name, state }: { name: string; state: string },
    verify: Verify,
    signal: AbortSignal,
  ): Promise<AuditVerdictJson> {
    signal.throwIfAborted();
    const known = this.#kept.get(name);
    const kept = known?.state === state ? known : this.#begin(name, state, verify);
    const { promise: gone, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      kept.waiting -= 1;
      if (kept.waiting === 0 && !kept.isOver) {
        kept.left.abort(signal.reason);
        this.#forget(name, kept);
      }
      reject(signal.reason as Error);
    };
    kept.waiting += 1;
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([kept.verdict, gone]);
    } finally {
      signal.removeEventListener('abort', leave);
      if (!signal.aborted) kept.waiting -= 1;
    }
  }

  #begin(name: string, state: string, verify: Verify): Kept {
    const left = new AbortController();
    const verdict = verify(left.signal);
    const kept: Kept = { state, verdict, waiting: 0, isOver: false, left };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    verdict.then(
      () => (kept.isOver = true),
      () => this.#forget(name, kept),
    );
    return kept;
  }

  #forget(name: string, kept: Kept): void {
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
  }
}
