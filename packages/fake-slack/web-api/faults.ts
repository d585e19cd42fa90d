/** A simulated failure of a call; times are in seconds where Slack uses seconds. */
export type Fault =
  | { kind: 'rateLimited'; retryAfter: number }
  | { kind: 'status'; status: number }
  | { kind: 'html'; status?: number }
  | { kind: 'hang' }
  | { kind: 'reset' }
  | { kind: 'refuse'; error: string; needed?: string };

/** A fault and the calls that it affects. */
export interface FaultPlan {
  /** A method such as `chat.postMessage`; defaults to every method. */
  method?: string;
  /** The number of affected calls. Default: 1. */
  times?: number;
  /** True if the call is executed and only its response is lost. */
  isDone?: boolean;
  fault: Fault;
}

/** The pending faults in scheduled order. */
export class Faults {
  #plans: Array<FaultPlan & { left: number }> = [];

  add(plan: FaultPlan): void {
    this.#plans.push({ ...plan, left: plan.times ?? 1 });
  }

  /** Removes and returns the next fault for a method; `null` if there is none. */
  take(method: string): FaultPlan | null {
    const plan = this.#plans.find((each) => (each.method ?? method) === method);
    if (plan === undefined) return null;
    plan.left -= 1;
    if (plan.left <= 0) this.#plans = this.#plans.filter((each) => each !== plan);
    return plan;
  }

  /** Drops all scheduled faults. */
  clear(): void {
    this.#plans = [];
  }
}
