import {
  type Arguments,
  type AskedCall,
  type Hold,
  type HoldDecision,
  type HoldOutcome,
  type HoldStatus,
  type HoldsAdapter,
  isRefused,
  type Person,
  type Refusal,
} from './adapter.ts';
import { promised } from './promised.ts';

/** What happens around a restart of the implementation. */
export interface Around {
  /** Runs last before it, and is waited for. */
  before?: () => Promise<unknown>;
  /** Starts right before it, and is not waited for. */
  during?: () => Promise<unknown>;
  /** Runs while the implementation is down. */
  down?: () => Promise<unknown>;
}

/** How an attempt ended. */
export type Attempt = 'accepted' | 'refused';

/** Milliseconds after which a second run would show, for each second of patience. */
const secondRun = 20;

/** What a check needs besides the implementation. */
export interface Surroundings {
  /** The keys of this check begin with it. */
  prefix: string;
  /** Seconds within which an implementation shows the effect of a request that it accepted. */
  patience: number;
  restart: (around?: Around) => Promise<void>;
  signal: AbortSignal;
}

/** An implementation of holds as one check uses it, with keys of its own. */
export class HoldsUnderTest {
  readonly adapter: HoldsAdapter;
  /** Restarts the implementation, together with the other checks that do. */
  readonly restart: (around?: Around) => Promise<void>;
  readonly #prefix: string;
  readonly #patience: number;
  readonly #signal: AbortSignal;
  #calls = 0;

  constructor(adapter: HoldsAdapter, { prefix, patience, restart, signal }: Surroundings) {
    this.adapter = adapter;
    this.restart = restart;
    this.#prefix = prefix;
    this.#patience = patience;
    this.#signal = signal;
  }

  /** A call of rita with a key that no other call has. */
  call(over: Partial<AskedCall> = {}): AskedCall {
    this.#calls += 1;
    const key = `${this.#prefix}-${this.#calls}`;
    return { key, tool: 'pay', args: { to: 'A-1042', amount: this.#calls }, by: 'rita', ...over };
  }

  /** Asks for a call that the implementation must accept. */
  async ask(call: AskedCall): Promise<Hold> {
    const answer = await this.adapter.ask(call);
    promised(!isRefused(answer), `${call.tool} was refused: ${reasonOf(answer)}`);
    return answer;
  }

  /** Asks for a new call, which must wait; returns it with its id. */
  async held(over: Partial<AskedCall> = {}): Promise<AskedCall & { id: string }> {
    const call = this.call(over);
    const { id, status } = await this.ask(call);
    promised(status === 'pending', `a new call of ${call.tool} is ${status}, and must wait`);
    return { ...call, id };
  }

  /** Returns the status of a hold, or `refused`. */
  async status(id: string, by: Person = 'rita'): Promise<HoldStatus | 'refused'> {
    const answer = await this.adapter.read(id, by);
    return isRefused(answer) ? 'refused' : answer.status;
  }

  /** Returns a hold of rita, which must be there. */
  async read(id: string): Promise<Hold> {
    const answer = await this.adapter.read(id, 'rita');
    promised(!isRefused(answer), `the hold cannot be read: ${reasonOf(answer)}`);
    return answer;
  }

  /** Resolves with the hold once it is decided. */
  async decided(id: string): Promise<Hold> {
    const probe = async () => {
      const hold = await this.read(id);
      return hold.status === 'pending' ? undefined : hold;
    };
    return this.#until(probe, `the hold still waits, ${this.#patience} s after it was to end`);
  }

  /** Expects the status of a decided hold. */
  async expectEnd(id: string, status: HoldStatus): Promise<void> {
    const actual = (await this.decided(id)).status;
    promised(actual === status, `the hold is ${actual}, and must be ${status}`);
  }

  /** Expects a hold to wait still. */
  async expectWaiting(id: string): Promise<void> {
    const actual = await this.status(id);
    promised(actual === 'pending', `the hold is ${actual}, and must still wait`);
  }

  /** Decides on a hold by ann unless another person is named. */
  async decide(
    id: string,
    decision: HoldDecision['decision'],
    more: Partial<HoldDecision> = {},
  ): Promise<Attempt> {
    const answer = await this.adapter.decide?.(id, { decision, by: 'ann', ...more });
    return isRefused(answer) ? 'refused' : 'accepted';
  }

  /** Decides on a hold; the decision must be accepted. */
  async decideNow(
    id: string,
    decision: HoldDecision['decision'],
    more: Partial<HoldDecision> = {},
  ): Promise<void> {
    const answer = await this.adapter.decide?.(id, { decision, by: 'ann', ...more });
    const refused = isRefused(answer);
    promised(!refused, `the decision "${decision}" was refused: ${reasonOf(answer)}`);
  }

  async cancel(id: string, by: Person = 'rita'): Promise<Attempt> {
    return isRefused(await this.adapter.cancel?.(id, by)) ? 'refused' : 'accepted';
  }

  /** Takes a call as the program of a person does. */
  async take(id: string, by: Person = 'rita', claim?: string): Promise<Arguments | Refusal> {
    return (await this.adapter.take?.(id, by, claim)) ?? { refused: 'not offered' };
  }

  async report(id: string, outcome: HoldOutcome, by: Person = 'rita'): Promise<Attempt> {
    return isRefused(await this.adapter.report?.(id, outcome, by)) ? 'refused' : 'accepted';
  }

  /** Returns the ids of the calls that wait, with their arguments. */
  async waiting(): Promise<Map<string, Arguments>> {
    const calls = (await this.adapter.waiting?.()) ?? [];
    return new Map(calls.map(({ id, args }) => [id, args]));
  }

  /** Asks for a call, approves it and takes it; returns its id. */
  async taken(): Promise<string> {
    const { id, args } = await this.held();
    await this.decideNow(id, 'approve');
    await this.expectRun(id, args);
    return id;
  }

  /**
   * Expects a call to run once with these arguments: it is offered to several takers, or the implementation runs it. `meanwhile` is
   * called until it runs.
   */
  async expectRun(id: string, args: Arguments, meanwhile?: () => Promise<unknown>): Promise<void> {
    const probe = async () => {
      const runs = await this.#runs(id, 5);
      if (runs.length > 0) return runs;
      await meanwhile?.();
      return undefined;
    };
    const first = await this.#until(
      probe,
      `the approved call does not run within ${this.#patience} s`,
    );
    const runs = this.adapter.runs === undefined ? first : await this.#settledRuns(id);
    promised(runs.length === 1, `the call runs ${runs.length} times, and must run once`);
    const [actual] = runs;
    promised(
      canonical(actual) === canonical(args),
      `the call runs with ${canonical(actual)}, and was approved with ${canonical(args)}`,
    );
    await this.expectNoFurtherRun(id, 1);
  }

  /** Asks for a call, approves it and takes it as one process; returns its id. */
  async claimed(claim: string): Promise<string> {
    const { id } = await this.held();
    await this.decideNow(id, 'approve');
    const probe = async () => (isRefused(await this.take(id, 'rita', claim)) ? undefined : id);
    return this.#until(probe, `no process receives the call within ${this.#patience} s`);
  }

  /** Expects a call that a process claimed to be given to it again, and to no other process. */
  async expectClaim(id: string, claim: string): Promise<void> {
    const again = await this.take(id, 'rita', claim);
    promised(!isRefused(again), 'the process that took the call does not receive it again');
    const other = await this.take(id, 'rita', `${claim}-other`);
    promised(isRefused(other), 'another process receives the call as well');
    await this.expectNoFurtherRun(id, 1);
  }

  /** Expects a call never to run. */
  async expectNoRun(id: string): Promise<void> {
    await this.expectNoFurtherRun(id, 0);
  }

  /** Expects a call that ran some times not to run again. */
  async expectNoFurtherRun(id: string, before: 0 | 1): Promise<void> {
    if (this.adapter.runs !== undefined) {
      const { length } = await this.#settledRuns(id);
      promised(length === before, `the call runs ${length} times, and must run ${before} times`);
    } else if (this.adapter.take !== undefined) {
      const { length } = await this.#runs(id, 3);
      promised(length === 0, `the call is given to ${length + before} programs to run`);
    }
  }

  /** Resolves after the deadline of the calls that were asked for with `soon`. */
  async passDeadline(): Promise<void> {
    const milliseconds = (this.adapter.expiresWithin ?? 0) + 1;
    await (this.adapter.pass?.(milliseconds) ?? this.sleep(milliseconds));
  }

  /** Resolves after some milliseconds of real time. */
  sleep(milliseconds: number): Promise<void> {
    return sleep(milliseconds, this.#signal);
  }

  async #settledRuns(id: string): Promise<Arguments[]> {
    await this.sleep(this.#patience * secondRun);
    return (await this.adapter.runs?.(id)) ?? [];
  }

  /** The runs so far, or the arguments that some of as many takers receive at once. */
  async #runs(id: string, takers: number): Promise<Arguments[]> {
    if (this.adapter.runs !== undefined) return this.adapter.runs(id);
    const taking = Array.from({ length: takers }, () => this.take(id));
    const answers = await Promise.all(taking);
    return answers.flatMap((answer) => (isRefused(answer) ? [] : [answer as Arguments]));
  }

  async #until<Value>(probe: () => Promise<Value | undefined>, otherwise: string): Promise<Value> {
    const until = performance.now() + this.#patience * 1_000;
    for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
      const value = await probe();
      if (value !== undefined) return value;
      promised(performance.now() < until, otherwise);
      await this.sleep(pause);
    }
  }
}

/** Returns JSON with sorted members. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'nothing';
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

/** Resolves after some milliseconds. Rejects with the reason of the signal. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const slept = Promise.withResolvers<void>();
  const leave = () => slept.reject(signal.reason);
  const timer = setTimeout(slept.resolve, milliseconds);
  signal.addEventListener('abort', leave, { once: true });
  try {
    await slept.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

function reasonOf(answer: object | undefined): string {
  return isRefused(answer) ? (answer as Refusal).refused : '';
}
