import type { AuditVerdictJson } from '../../http/wire/dashboard/audit-json.ts';

/** Maximum number of cached verdicts. */
const mostKept = 256;

interface Kept {
  /** Identifies the content of the verified files. */
  state: string;
  verdict: Promise<AuditVerdictJson>;
  /** Number of callers waiting for the verdict. */
  waiting: number;
  isOver: boolean;
  left: AbortController;
}

/** Verifies a log. Rejects with the reason of the signal when aborted. */
export type Verify = (signal: AbortSignal) => Promise<AuditVerdictJson>;

/** Verifies each state of a log once. Stops a verification when no caller waits for it any more. */
export class AuditVerdicts {
  readonly #kept = new Map<string, Kept>();

  /** Returns the verdict on a log in a `state`. Rejects if the log cannot be read or the signal aborts. */
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
