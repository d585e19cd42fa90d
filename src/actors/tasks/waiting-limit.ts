import {
  type Caller,
  isFinal,
  type Owner,
  type Task,
  type ToolCall,
} from '../../machines/task/task.ts';
import { ownerOf } from '../../machines/task/task-access.ts';
import type { Policy } from '../governance/governance.ts';
import { columnsOfOwner, type TaskRows } from '../records/records.ts';

/** What bounds the calls of a caller that wait. */
export interface WaitingLimitPorts {
  rows: Pick<TaskRows, 'waitingOf'>;
  policy: Policy;
  /** Tells whether a task has an actor here. */
  isLive: (taskId: string) => boolean;
  /** How many calls of one caller may wait at once. */
  most: number;
}

/** Whose call is asked for, in which task. */
export interface CallOfTask {
  id: string;
  owner?: Owner | null;
  requester: Caller | null;
}

/**
 * Bounds how many calls of one caller wait for a decision. A caller is whom their tasks belong to; all who do not sign in
 * are one. What is committed is counted in the store, which several daemons share, and what is about to be committed here.
 */
export class WaitingLimit {
  readonly #ports: WaitingLimitPorts;
  /** By caller the tasks here of whose turn calls are about to wait, with how many those are. */
  readonly #coming = new Map<string, Map<string, number>>();

  constructor(ports: WaitingLimitPorts) {
    this.#ports = ports;
  }

  /** Returns the calls, those marked as refused that would wait beyond the limit. Rejects with the error of the store. */
  async admit(task: CallOfTask, calls: readonly ToolCall[]): Promise<ToolCall[]> {
    const { rows, most } = this.#ports;
    const owner = ownerOf(task);
    this.#coming.get(keyOf(owner))?.delete(task.id);
    const waiting = calls.filter((call) => this.#waits(call)).length;
    if (waiting === 0) return [...calls];
    const committed = await rows.waitingOf(owner, most);
    const coming = this.#comingOf(owner);
    const others = new Set([...committed, ...coming.keys()]);
    others.delete(task.id);
    if (others.size < most) {
      coming.set(task.id, waiting);
      return [...calls];
    }
    return calls.map((call) => (this.#waits(call) ? { ...call, refused: tooMany(most) } : call));
  }

  /** Hears of a committed change, after which a call less of a task may be about to wait. */
  changed(task: Task, before: Task | null): void {
    const coming = this.#coming.get(keyOf(ownerOf(task)));
    const waiting = coming?.get(task.id);
    if (coming === undefined || waiting === undefined) return;
    const hasWaited = before?.state === 'deferred' && task.state !== 'deferred';
    if (isFinal(task.state) || (hasWaited && waiting === 1)) coming.delete(task.id);
    else if (hasWaited) coming.set(task.id, waiting - 1);
  }

  #waits(call: ToolCall): boolean {
    try {
      const { refusal, defer } = this.#ports.policy.rulesFor(call);
      return refusal === null && defer !== null;
    } catch {
      // Governance denies it.
      return false;
    }
  }

  #comingOf(owner: Owner | null): Map<string, number> {
    const key = keyOf(owner);
    const { isLive } = this.#ports;
    const left = [...(this.#coming.get(key) ?? [])].filter(([id]) => isLive(id));
    const coming = new Map(left);
    this.#coming.set(key, coming);
    return coming;
  }
}

function keyOf(owner: Owner | null): string {
  return columnsOfOwner(owner).join('\n');
}

function tooMany(most: number): string {
  const calls = most === 1 ? '1 call' : `${most} calls`;
  return `denied: ${calls} of this caller already wait for a decision, the most that security.defer.max_pending_per_caller allows; have some decided, or cancel some, and ask again`;
}
