import type { Measured } from '../actors/tasks/tasks.ts';

/** A request that was answered or abandoned. */
export interface MeasuredRequest {
  type: 'request';
  /** A route such as `/tasks/{id}`; `other` for a request rejected before routing. */
  route: string;
  status: number;
  /** `refused` for 4xx and a JSON-RPC error; `failed` for 5xx and a truncated response. */
  outcome: 'ok' | 'refused' | 'failed';
  /** Milliseconds from the request headers to the end of the response. */
  milliseconds: number;
}

type Call = Extract<Measured, { type: 'call' }>;
type Timed = Exclude<Measured, Call> | MeasuredRequest;

/** Maximum number of durations buffered until the metrics library is loaded. */
const mostTimes = 1_000;

/** Counts measurements until the first metrics request, which loads the metrics library. */
export class MeasuredCounts {
  readonly #calls = new Map<string, Call & { count: number }>();
  #times: Timed[] = [];

  /** Counts a measurement. Returns true if the buffered durations must be drained before more arrive. */
  hear(measured: Measured | MeasuredRequest): boolean {
    if (measured.type !== 'call') return this.#times.push(measured) >= mostTimes;
    const key = `${measured.outcome} ${measured.tool}`;
    this.#calls.set(key, { ...measured, count: (this.#calls.get(key)?.count ?? 0) + 1 });
    return false;
  }

  /** Finished calls by tool and outcome. */
  calls(): Iterable<Readonly<Call & { count: number }>> {
    return this.#calls.values();
  }

  /** Returns and clears the buffered durations. */
  takeTimes(): Timed[] {
    const times = this.#times;
    this.#times = [];
    return times;
  }
}
