import type { HoldOutcome } from '../../machines/domain/hold.ts';
import type { LedgerEntry } from '../../machines/domain/ledger.ts';
import type { Task } from '../../machines/domain/task.ts';
import type { HoldEvent } from '../../machines/hold/hold-machine.ts';
import { holdAfter, isSameOutcome } from '../../machines/task/held-elsewhere.ts';
import { InOrder } from '../in-order.ts';
import type { Clock } from '../ports/clock.ts';
import { type AgentEntity, ConflictError, holdWrite, type TaskStore } from '../records/records.ts';
import { unrecorded } from '../system-error.ts';
import type { ReleaseRuling } from './still-holds.ts';

export interface HoldAccountsPorts {
  store: TaskStore;
  clock: Clock;
  envelope: AgentEntity;
  /** Rules again on an approved call that its program did not receive yet. */
  rulingOf: (task: Task) => Promise<ReleaseRuling>;
  /** Receives every committed change of a hold. */
  onChanged: (task: Task, before: Task) => void;
}

/** The effect of reporting an outcome. */
export type OutcomeAnswer =
  | { kind: 'kept' | 'differs'; task: Task }
  /** The call was never allowed, or is not decided yet. */
  | { kind: 'notGranted'; task: Task }
  /** The call is reported to have run, and its program has not received it yet. */
  | { kind: 'notReceived'; task: Task }
  | { kind: 'unknown' };

/** Maximum attempts for a hold that another daemon changes at the same time. */
const maximumTries = 4;

/** Keeps account of decided calls that other programs run: received, ended, or unaccounted for. */
export class HoldAccounts {
  readonly #ports: HoldAccountsPorts;
  /** Changes of one hold are made one after the other. */
  readonly #changing = new InOrder();

  constructor(ports: HoldAccountsPorts) {
    this.#ports = ports;
  }

  /**
   * Records that the process with this claim receives the call of an approved hold, unless the policy in force forbids
   * it. Returns the hold, and whether it changed. Rejects with SystemError.
   */
  take(id: string, claim: string | undefined): Promise<Changed> {
    return this.#changing.run(id, async () => {
      const stored = await this.#ports.store.rows.read(id);
      const { event, reserved } = await this.#takenEvent(stored?.task, claim);
      return this.#changeNow(id, event, reserved);
    });
  }

  /** Records the outcome of a granted call. The first outcome counts. Rejects with SystemError. */
  async close(id: string, outcome: HoldOutcome): Promise<OutcomeAnswer> {
    const { task, isChanged } = await this.#change(id, { type: 'hold.closed', outcome });
    if (task === undefined) return { kind: 'unknown' };
    const { state = 'withdrawn' } = task.hold?.account ?? {};
    if (state === 'withdrawn') return { kind: 'notGranted', task };
    if (state === 'granted') return { kind: 'notReceived', task };
    const isKept = isChanged || isSameOutcome(task.hold?.account?.outcome ?? null, outcome);
    return { kind: isKept ? 'kept' : 'differs', task };
  }

  /**
   * Records that the time for the next step of the program of a decided hold is over. Returns false if the time is not
   * over at `at`, in epoch milliseconds.
   */
  async overdue(id: string, at: number): Promise<boolean> {
    const task = await this.#ports.store.rows.find(id);
    if (task?.hold?.account === undefined || task.wakeAt === null) return true;
    if (task.wakeAt > at) return false;
    await this.#change(id, { type: 'hold.overdue' });
    return true;
  }

  /** The time to fetch the call may be over before the deadline wakes the hold. */
  async #takenEvent(
    task: Task | undefined,
    claim: string | undefined,
  ): Promise<{ event: HoldEvent; reserved?: readonly LedgerEntry[] }> {
    const at = this.#ports.clock.now();
    const isGranted = task?.hold?.account?.state === 'granted';
    if (isGranted && task.wakeAt !== null && task.wakeAt <= at) {
      return { event: { type: 'hold.overdue' } };
    }
    const { refusal, reserved } = task === undefined ? unchanged : await this.#ports.rulingOf(task);
    if (refusal !== null) return { event: { type: 'hold.forbidden', reason: refusal } };
    return { event: { type: 'hold.taken', at, claim }, reserved };
  }

  #change(id: string, event: HoldEvent): Promise<Changed> {
    return this.#changing.run(id, () => this.#changeNow(id, event));
  }

  async #changeNow(
    id: string,
    event: HoldEvent,
    reserved: readonly LedgerEntry[] = [],
  ): Promise<Changed> {
    const { store, clock, envelope, onChanged } = this.#ports;
    for (let tries = 1; ; tries += 1) {
      const stored = await store.rows.read(id);
      const step = stored === undefined ? null : holdAfter(stored.task, event);
      if (stored === undefined || step === null) return { task: stored?.task, isChanged: false };
      const at = clock.now();
      const write = holdWrite(stored, step, { envelope, at, reserved });
      try {
        await store.save(id, () => write);
        onChanged(write.change.task, stored.task);
        return { task: write.change.task, isChanged: true };
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === maximumTries) {
          throw unrecorded(store, error);
        }
      }
    }
  }
}

const unchanged: ReleaseRuling = { refusal: null, reserved: [] };

export interface Changed {
  /** `undefined` for an unknown hold. */
  task: Task | undefined;
  isChanged: boolean;
}
