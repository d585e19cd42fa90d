/** A failure of a call; times are in seconds where Slack counts in seconds. */
export type Fault =
  | { kind: 'rateLimited'; retryAfter: number }
  | { kind: 'status'; status: number }
  | { kind: 'html'; status?: number }
  | { kind: 'hang' }
  | { kind: 'reset' }
  | { kind: 'refuse'; error: string; needed?: string };

/** A fault and the calls that it hits. */
export interface FaultPlan {
  /** A method such as `chat.postMessage`; every method by default. */
  method?: string;
  /** The number of calls it hits; one by default. */
  times?: number;
  /** True when the call is carried out all the same, and only its answer is lost. */
  isDone?: boolean;
  fault: Fault;
}

/** The faults that are still to come, in the order they were planned. */
export class Faults {
  #plans: Array<FaultPlan & { left: number }> = [];

  /** Plans a fault. */
  add(plan: FaultPlan): void {
    this.#plans.push({ ...plan, left: plan.times ?? 1 });
  }

  /** Takes the next fault for a call of a method; `null` when nothing goes wrong. */
  take(method: string): FaultPlan | null {
    const plan = this.#plans.find((each) => (each.method ?? method) === method);
    if (plan === undefined) return null;
    plan.left -= 1;
    if (plan.left <= 0) this.#plans = this.#plans.filter((each) => each !== plan);
    return plan;
  }

  /** Drops every planned fault. */
  clear(): void {
    this.#plans = [];
  }
}
