import {
  type Caller,
  isFinal,
  type Owner,
  type Task,
  type ToolCall,
} from '../../machines/domain/task.ts';
import { ownerOf } from '../../machines/task/task-access.ts';
import type { Policies } from '../governance/governance.ts';
import { columnsOfOwner, type TaskRows } from '../records/records.ts';

export interface WaitingLimitPorts {
  rows: Pick<TaskRows, 'countWaiting' | 'waitingOf'>;
  policies: Pick<Policies, 'current'>;
  /** Returns whether a task has an actor here. */
  isLive: (taskId: string) => boolean;
}

/** The task of a call, and its owner. */
export interface CallOfTask {
  id: string;
  owner?: Owner | null;
  requester: Caller | null;
}

/**
 * Limits the calls of one caller that wait for a decision. Callers are identified by task ownership; all
 * unauthenticated callers count as one. Counts committed calls in the store, which several daemons share, and calls
 * about to be committed here.
 */
export class WaitingLimit {
  readonly #ports: WaitingLimitPorts;
  /** For each caller, the tasks here with calls that are about to wait, and their number. */
  readonly #coming = new Map<string, Map<string, number>>();

  constructor(ports: WaitingLimitPorts) {
    this.#ports = ports;
  }

  /** Returns the calls; those that would exceed the limit are marked as refused. Rejects with the store's error. */
  async admit(task: CallOfTask, calls: readonly ToolCall[]): Promise<ToolCall[]> {
    const owner = ownerOf(task);
    this.#coming.get(keyOf(owner))?.delete(task.id);
    const waiting = calls.filter((call) => this.#waits(call)).length;
    if (waiting === 0) return [...calls];
    const enter = () => this.#comingOf(owner).set(task.id, waiting);
    if (await this.#entersFarBelow(owner, enter)) return [...calls];
    if (await this.#entersBelow(owner, task.id, enter)) return [...calls];
    return calls.map((call) =>
      this.#waits(call) ? { ...call, refused: tooMany(this.#most) } : call,
    );
  }

  /** Processes a committed change, which may reduce the number of calls about to wait. */
  changed(task: Task, before: Task | null): void {
    const coming = this.#coming.get(keyOf(ownerOf(task)));
    const waiting = coming?.get(task.id);
    if (coming === undefined || waiting === undefined) return;
    const hasWaited = before?.state === 'deferred' && task.state !== 'deferred';
    if (isFinal(task.state) || (hasWaited && waiting === 1)) coming.delete(task.id);
    else if (hasWaited) coming.set(task.id, waiting - 1);
  }

  /**
   * Calls `enter` if the limit is out of reach even if no task is counted twice. This needs no list of tasks, whose
   * reading would make each call slower the more calls wait. Nothing may be awaited between a check and `enter`,
   * otherwise two calls could pass with one place left.
   */
  async #entersFarBelow(owner: Owner | null, enter: () => void): Promise<boolean> {
    const before = this.#comingOf(owner).size;
    const committed = await this.#ports.rows.countWaiting(owner);
    const isFarBelow = committed + before + this.#comingOf(owner).size < this.#most;
    if (isFarBelow) enter();
    return isFarBelow;
  }

  async #entersBelow(owner: Owner | null, taskId: string, enter: () => void): Promise<boolean> {
    const { rows, isLive } = this.#ports;
    const committed = await rows.waitingOf(owner, this.#most);
    const coming = this.#comingOf(owner);
    for (const id of coming.keys()) if (!isLive(id)) coming.delete(id);
    const others = new Set([...committed, ...coming.keys()]);
    others.delete(taskId);
    const isBelow = others.size < this.#most;
    if (isBelow) enter();
    return isBelow;
  }

  /** A condition on the caller or the session is not evaluated here, so a call that may wait counts. */
  #waits(call: ToolCall): boolean {
    try {
      const { policy } = this.#ports.policies.current;
      const { refusal, defer } = policy.rulesFor(call);
      if (!policy.isConditional(call.tool)) return refusal === null && defer !== null;
      return policy.mayHold(call.tool) && (refusal === null || refusal.rule !== undefined);
    } catch {
      // Governance denies the call.
      return false;
    }
  }

  get #most(): number {
    return this.#ports.policies.current.mostWaiting;
  }

  #comingOf(owner: Owner | null): Map<string, number> {
    const key = keyOf(owner);
    const coming = this.#coming.get(key) ?? new Map<string, number>();
    this.#coming.set(key, coming);
    return coming;
  }
}

function keyOf(owner: Owner | null): string {
  return columnsOfOwner(owner).join('\n');
}

function tooMany(most: number): string {
  const calls = most === 1 ? '1 call' : `${most} calls`;
  return `denied: ${calls} of this caller already wait for a decision, the most that security.defer.max_pending_per_caller allows; decide or cancel some, and try again`;
}
