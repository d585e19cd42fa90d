import type { Measured } from '../actors/tasks/tasks.ts';

/** A request that was answered, or left. */
export interface MeasuredRequest {
  type: 'request';
  /** Such as `/tasks/{id}`; `other` for what is refused before it has one. */
  route: string;
  status: number;
  /** `refused` for 4xx and for an error of JSON-RPC, `failed` for 5xx and an answer that was cut off. */
  outcome: 'ok' | 'refused' | 'failed';
  /** From its headers to the end of its answer. */
  milliseconds: number;
}

type Call = Extract<Measured, { type: 'call' }>;
type Timed = Exclude<Measured, Call> | MeasuredRequest;

/** Maximum number of times that wait for the metrics library. */
const mostTimes = 1_000;

/** Counts what was measured until the first request for metrics, which loads the metrics library. */
export class MeasuredCounts {
  readonly #calls = new Map<string, Call & { count: number }>();
  #times: Timed[] = [];

  /** Counts a measurement; returns true when the times need to be taken before more arrive. */
  hear(measured: Measured | MeasuredRequest): boolean {
    if (measured.type !== 'call') return this.#times.push(measured) >= mostTimes;
    const key = `${measured.outcome} ${measured.tool}`;
    this.#calls.set(key, { ...measured, count: (this.#calls.get(key)?.count ?? 0) + 1 });
    return false;
  }

  /** Ended calls by tool and outcome. */
  calls(): Iterable<Readonly<Call & { count: number }>> {
    return this.#calls.values();
  }

  /** Returns what has taken time since the last time. */
  takeTimes(): Timed[] {
    const times = this.#times;
    this.#times = [];
    return times;
  }
}
