import type { ApprovalNotice, MessageRef } from '../../../machines/channels/approval-notice.ts';

/** What is kept of one held call for one target. */
export interface ApprovalRow {
  /** Older rows have lower ones. */
  position: number;
  adapter: string;
  /** How many changes led to `notice`. */
  version: number;
  notice: ApprovalNotice;
  /** Where the message is; `null` while there is none. */
  ref: MessageRef | null;
  /** What the message says; `null` when there is none or nothing is left to tell. */
  told: ApprovalNotice | null;
}

/** The rows of one target whose message is, or is not, posted. */
export interface ApprovalSlot {
  /** `channel:<adapter>:<target>` */
  target: string;
  isPosted: boolean;
}

/** What became of a row: its target was told of a version, or will not be. */
export interface ApprovalWrite {
  position: number;
  version: number;
  /** `null` leaves the one that is kept. */
  ref: MessageRef | null;
  told: ApprovalNotice;
  /** True when there is nothing more to tell. */
  isClosed: boolean;
}

/** How much one adapter has before it. */
export interface ApprovalBacklog {
  adapter: string;
  /** Releases that nobody was asked for yet. */
  unposted: number;
  /** Messages that do not say yet what is true. */
  stale: number;
  /** When the oldest call among them was held, in epoch milliseconds. */
  oldestAt: number;
}

/**
 * The approval notices of an agent: who is asked for which release, and what their messages say. The rows are written
 * in the commit that parks a task, changes what its approvers see or ends its wait.
 */
export interface ApprovalRows {
  /** Queues approval notices for tasks parked before there were any; returns how many rows that adds. */
  queueUnasked(): Promise<number>;
  /** Returns what is kept of a deferral for the targets of one adapter, oldest first. */
  find(deferralId: string, adapter: string): Promise<ApprovalRow[]>;
  /** Returns what is kept of the message in a place; `undefined` for a place where none of ours is known. */
  findAt(adapter: string, ref: MessageRef): Promise<ApprovalRow | undefined>;
  /** Has a posted message of a call that waits brought up to date once more, as it may be gone. */
  doubt(position: number): Promise<void>;
  /** Returns what is kept of a task for all targets, oldest first. */
  ofTask(taskId: string): Promise<ApprovalRow[]>;
  /** Returns the ids of tasks that wait for a release. */
  waiting(): Promise<string[]>;
  /** Returns the first slot of an adapter with something due; after another slot when one is given. */
  nextSlot(adapter: string, after: ApprovalSlot | null): Promise<ApprovalSlot | undefined>;
  /** Returns the row of a slot with something due whose call is denied first, but for some positions. */
  nextDue(
    adapter: string,
    slot: ApprovalSlot,
    except?: readonly number[],
  ): Promise<ApprovalRow | undefined>;
  /** Keeps what was told, in one commit; what changed since then stays due. A power cut may take it back. */
  keep(writes: readonly ApprovalWrite[]): Promise<void>;
  /** Counts what is due, by adapter. */
  backlog(): Promise<ApprovalBacklog[]>;
}
