import type { HoldsAdapter } from './adapter.ts';
import { type Capability, type HoldCheck, type HoldGroup, missingIn } from './check.ts';
import { holdChecks } from './hold-checks.ts';
import { HoldsUnderTest, type Surroundings, sleep } from './holds-under-test.ts';
import { BrokenPromise } from './promised.ts';
import { RestartTogether } from './restart-together.ts';

type Ending =
  | { status: 'passed' }
  | { status: 'failed'; why: string }
  | { status: 'not offered'; missing: Capability[] };

/** The result of one check. */
export type HoldResult = {
  id: string;
  group: HoldGroup;
  title: string;
} & Ending;

/** What the checks found. */
export interface HoldReport {
  /** Name and version of the implementation. */
  name: string;
  passed: number;
  failed: number;
  notOffered: number;
  /** A result for each check, in the order of the checks. */
  results: HoldResult[];
}

/** How the checks run. */
export interface HoldCheckOptions {
  /** Runs only the checks with these ids or of these groups. */
  only?: readonly string[];
  /** Ends the run; the implementation is closed. */
  signal?: AbortSignal;
  /** Checks that run at once; default 8. Checks of `restart` and of `kill` run at once in any case. */
  concurrency?: number;
  /** Seconds within which an accepted request must show its effect; default 5. */
  patience?: number;
  /** Seconds after which a check fails; default 60. */
  timeout?: number;
  /** Receives each result as it arrives. */
  onResult?: (result: HoldResult) => void;
}

/**
 * Starts an implementation of holds, runs the checks against it and closes it. A check whose needs the adapter does not offer is reported
 * as such and not run. Rejects if the implementation does not start or an id of `only` is unknown, and with the reason of the signal.
 */
export async function runHoldChecks(
  adapter: HoldsAdapter,
  options: HoldCheckOptions = {},
): Promise<HoldReport> {
  const checks = selectChecks(options.only);
  const results = new Map<HoldCheck, HoldResult>();
  const add = (check: HoldCheck, result: Ending) => {
    const { id, group, title } = check;
    results.set(check, { id, group, title, ...result });
    options.onResult?.({ id, group, title, ...result });
  };
  const offered: HoldCheck[] = [];
  for (const check of checks) {
    const missing = missingIn(adapter, check);
    if (missing.length === 0) offered.push(check);
    else add(check, { status: 'not offered', missing });
  }
  const run = new Run(adapter, options, add);
  try {
    if (offered.length > 0) await run.all(offered);
  } finally {
    await adapter.close?.();
  }
  options.signal?.throwIfAborted();
  return reportOf(adapter.name, checks, results);
}

/** Returns the checks with these ids or of these groups; all without `only`. Throws for a name that no check has. */
function selectChecks(only: readonly string[] | undefined): readonly HoldCheck[] {
  if (only === undefined) return holdChecks;
  const isNamed = (name: string) => (check: HoldCheck) => check.id === name || check.group === name;
  const unknown = only.find((name) => !holdChecks.some(isNamed(name)));
  if (unknown !== undefined) {
    throw new TypeError(`no check has the id or group "${unknown}"; holdChecks lists them`);
  }
  return holdChecks.filter((check) => only.some((name) => isNamed(name)(check)));
}

/** One run of the checks against one implementation. */
class Run {
  readonly #adapter: HoldsAdapter;
  readonly #options: HoldCheckOptions;
  readonly #add: (check: HoldCheck, result: Ending) => void;
  readonly #keys = `check-${Math.random().toString(36).slice(2, 8)}`;
  readonly #stopped = new AbortController();

  constructor(
    adapter: HoldsAdapter,
    options: HoldCheckOptions,
    add: (check: HoldCheck, result: Ending) => void,
  ) {
    this.#adapter = adapter;
    this.#options = options;
    this.#add = add;
  }

  async all(checks: readonly HoldCheck[]): Promise<void> {
    const signal = this.#options.signal;
    signal?.throwIfAborted();
    const stop = () => this.#stopped.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await this.#adapter.start?.();
      const [steady, stopping, killing] = [
        checks.filter(({ needs }) => !needs.includes('stop') && !needs.includes('kill')),
        checks.filter(({ needs }) => needs.includes('stop')),
        checks.filter(({ needs }) => needs.includes('kill')),
      ];
      // A clock that `pass` advances is the clock of every call.
      const movesClock = ({ needs }: HoldCheck) =>
        this.#adapter.pass !== undefined && needs.includes('expiresWithin');
      const moving = steady.filter(movesClock);
      const others = steady.filter((check) => !movesClock(check));
      await this.#atOnce(others, this.#options.concurrency ?? 8);
      await this.#atOnce(moving, 1);
      await this.#together(stopping, 'stop');
      await this.#together(killing, 'kill');
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async #atOnce(checks: readonly HoldCheck[], limit: number): Promise<void> {
    const rest = checks.values();
    const worker = async () => {
      for (const check of rest) {
        if (this.#stopped.signal.aborted) return;
        await this.#one(check, () => {
          throw new TypeError('only the checks of a restart and a kill may restart');
        });
      }
    };
    await Promise.all(Array.from({ length: limit }, worker));
  }

  /** Runs checks that share one restart. */
  async #together(checks: readonly HoldCheck[], end: 'stop' | 'kill'): Promise<void> {
    if (checks.length === 0 || this.#stopped.signal.aborted) return;
    const shared = new RestartTogether(this.#adapter, end, checks.length);
    await Promise.all(
      checks.map(async (check) => {
        const member = shared.member();
        await this.#one(check, member.restart);
        member.leave();
      }),
    );
  }

  async #one(check: HoldCheck, restart: Surroundings['restart']): Promise<void> {
    const { timeout = 60, patience = 5 } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#stopped.signal]);
    const prefix = `${this.#keys}-${check.id.replace(/\W/g, '-')}`;
    const holds = new HoldsUnderTest(this.#adapter, { prefix, patience, restart, signal });
    const late = sleep(timeout * 1_000, signal).then(() => {
      throw new BrokenPromise(`the check did not end within ${timeout} s`);
    });
    late.catch(() => undefined);
    try {
      await Promise.race([check.run(holds), late]);
      this.#add(check, { status: 'passed' });
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#add(check, { status: 'failed', why: whyOf(error) });
    } finally {
      over.abort(new Error('the check is over'));
    }
  }
}

function whyOf(error: unknown): string {
  if (error instanceof BrokenPromise) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `the adapter failed: ${message}`;
}

function reportOf(
  name: string,
  checks: readonly HoldCheck[],
  found: ReadonlyMap<HoldCheck, HoldResult>,
): HoldReport {
  const results = checks.flatMap((check) => found.get(check) ?? []);
  const count = (status: HoldResult['status']) =>
    results.filter((result) => result.status === status).length;
  return {
    ...{ name, passed: count('passed'), failed: count('failed') },
    ...{ notOffered: count('not offered'), results },
  };
}
