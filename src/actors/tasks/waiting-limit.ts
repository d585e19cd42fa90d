import {
  type Caller,
  isFinal,
  type Owner,
  type Task,
  type ToolCall,
} from '../../machines/task/task.ts';
import { ownerOf } from '../../machines/task/task-access.ts';
import type { Policy } from '../governance/governance.ts';
import type { Clock } from '../ports.ts';
import { columnsOfOwner, type TaskRows } from '../records/records.ts';

/** What bounds the calls of a caller that wait. */
export interface WaitingLimitPorts {
  rows: Pick<TaskRows, 'waitingOf'>;
  policy: Policy;
  clock: Pick<Clock, 'now'>;
  /** How many calls of one caller may wait at once. */
  most: number;
}

/** Whose call is asked for, in which task. */
export interface CallOfTask {
  id: string;
  owner?: Owner | null;
  requester: Caller | null;
}

/** Milliseconds in which a call that is about to wait is on disk. */
const onItsWay = 60_000;

/**
 * Bounds how many calls of one caller wait for a decision. A caller is whom their tasks belong to; all who do not sign in
 * are one. What is committed is counted in the store, which several daemons share, and what is about to be committed here.
 */
export class WaitingLimit {
  readonly #ports: WaitingLimitPorts;
  /** By caller the tasks here whose call is about to wait, with when that was found. */
  readonly #coming = new Map<string, Map<string, number>>();

  constructor(ports: WaitingLimitPorts) {
    this.#ports = ports;
  }

  /** Returns the calls, those marked as refused that would wait beyond the limit. Rejects with the error of the store. */
  async admit(task: CallOfTask, calls: readonly ToolCall[]): Promise<ToolCall[]> {
    const { rows, most } = this.#ports;
    if (!calls.some((call) => this.#waits(call))) return [...calls];
    const owner = ownerOf(task);
    const committed = await rows.waitingOf(owner, most);
    const coming = this.#comingOf(owner);
    const others = new Set([...committed, ...coming.keys()]);
    others.delete(task.id);
    if (others.size < most) {
      coming.set(task.id, this.#ports.clock.now());
      return [...calls];
    }
    return calls.map((call) => (this.#waits(call) ? { ...call, refused: tooMany(most) } : call));
  }

  /** Hears of a committed change, after which a task may not be about to wait any more. */
  changed(task: Task, before: Task | null): void {
    const hasWaited = before?.state === 'deferred' && task.state !== 'deferred';
    if (!hasWaited && !isFinal(task.state)) return;
    this.#coming.get(keyOf(ownerOf(task)))?.delete(task.id);
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
    const old = this.#ports.clock.now() - onItsWay;
    const left = [...(this.#coming.get(key) ?? [])].filter(([, at]) => at > old);
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
