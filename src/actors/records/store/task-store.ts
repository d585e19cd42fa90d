import type { AcsSessions } from '../../ports/acs-sessions.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Delegations } from '../../ports/delegations.ts';
import type { Grants } from '../../ports/grants.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { WebRecords } from '../../ports/web-records.ts';
import type { WebSessions } from '../../ports/web-sessions.ts';
import { SystemError } from '../../system-error.ts';
import type { ApprovalRows } from './approval-rows.ts';
import type { AuditOpening, AuditRecovery } from './audit-opening.ts';
import type { ChannelNameRows } from './channel-name-rows.ts';
import type { ConversationRows } from './conversation-rows.ts';
import type { KeyRows } from './key-rows.ts';
import type { PushRows } from './push-rows.ts';
import type { ReleaseRows } from './release-rows.ts';
import type { StoreError } from './store-error.ts';
import type { TaskChange, TaskRows } from './task-rows.ts';

/** A change of one task with its audit events. */
export interface TaskWrite {
  change: TaskChange;
  events: AuditEvent[];
}

/** Another writer changed the task first; read it again. */
export class ConflictError extends Error {
  readonly code = 'conflict';
}

/** The store refused a write; nothing of it was saved. */
export class UnrecordedError extends Error {
  readonly code = 'unrecorded';
}

/** What was reserved of limits for a call ended before its start was stored: the call must be ruled on again. */
export class UnreservedError extends UnrecordedError {
  constructor(id: string) {
    super(`the reservation of a call of task ${id} ended before the call started`);
  }
}

/** The store is currently unreachable; a retry may succeed. */
export class UnreachableError extends SystemError {
  constructor(cause: unknown) {
    super('unrecorded', 'the task store cannot be reached; try again in a moment', { cause });
  }
}

/** A task could not be prepared for saving: an error of that task only. */
export class UnsavableError extends Error {
  readonly code = 'unsavable';
}

/** Time for which a session of the Agent Control Standard outlives the retention, so that no old request is new again. */
export const replayTime = 900_000;

/**
 * Stores tasks together with their audit events atomically. All saves of one event-loop turn share a commit; a save
 * resolves when the commit is durable.
 */
export interface TaskStore {
  readonly rows: TaskRows;
  /** Receivers of push notifications. */
  readonly push: PushRows;
  /** Approval notices. */
  readonly approvals: ApprovalRows;
  /** Releases that saved tasks, by version of the task chart. */
  readonly releases: ReleaseRows;
  /** Chat messages to the agent. */
  readonly conversations: ConversationRows;
  /** Channels to which chat names first resolved. */
  readonly channelNames: ChannelNameRows;
  /** Random keys of the agent, by purpose. */
  readonly keys: KeyRows;
  /** Sessions of the Agent Control Standard. */
  readonly acsSessions: AcsSessions;
  /** The delegations that people made. */
  readonly delegations: Delegations;
  /** The releases of later calls that approvers gave. */
  readonly grants: Grants;
  /** Sessions of the approvals page. */
  readonly webSessions: WebSessions;
  /** Records of the approvals page, such as passkeys. */
  readonly webRecords: WebRecords;
  /** The calls that count for limits, effects, and outcomes that nobody knows. */
  readonly ledger: Ledger;
  /** Remedy for a store that cannot be written, worded to end a sentence. */
  readonly remedy: string;
  /** The damage found by a read or write; `null` if none was found. */
  readonly damage: StoreError | null;
  /** Number of committed log lines whose file may not be on disk yet. */
  readonly unsynced: number;
  /** Receives the duration of each commit in milliseconds; must not throw. Does nothing until it is set. */
  onCommit: (milliseconds: number) => void;
  /** Repairs of the log made when the store was opened. */
  readonly recovery: AuditRecovery;
  /** Findings of opening the store: it was older than its log, or lost. */
  readonly opening: AuditOpening;
  /**
   * Saves a task with the next commit, in which `collect` is called. A save that finds another one of its task waits
   * for it, so that no writer takes the place of another. Rejects with ConflictError, UnrecordedError or UnsavableError.
   */
  save(id: string, collect: () => TaskWrite): Promise<void>;
  /** Records events that belong to no task change. Rejects with UnrecordedError. */
  record(events: readonly AuditEvent[]): Promise<void>;
  /** Commits pending work now. Resolves with the error, or `null`. */
  flush(): Promise<Error | null>;
  /** Returns whether the store accepts writes, as far as known; tests again after a failure. */
  isWritable(): boolean;
  /** Deletes final tasks that ended before a time, a bounded number per call; returns how many. */
  deleteEnded(before: number): Promise<number>;
  /** Writes a checkpoint with the next commit, unless nothing was written since the last one. */
  checkpoint(): void;
  /** Commits pending work and closes the store. */
  close(): Promise<void>;
}
