import type { AuditEvent } from '../../ports.ts';
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

/** A change of one task together with what the audit log says about it. */
export interface TaskWrite {
  change: TaskChange;
  events: AuditEvent[];
}

/** The task was changed by another writer first; read it again. */
export class ConflictError extends Error {
  readonly code = 'conflict';
}

/** The store did not take a write; nothing of it was kept. */
export class UnrecordedError extends Error {
  readonly code = 'unrecorded';
}

/** The store cannot be asked now; it may be later. */
export class UnreachableError extends SystemError {
  constructor(cause: unknown) {
    super('unrecorded', 'the task store cannot be reached; try again in a moment', { cause });
  }
}

/** A task that cannot be put together for the store: a defect of that task alone. */
export class UnsavableError extends Error {
  readonly code = 'unsavable';
}

/**
 * Tasks and their audit events, kept together or not at all. All saves of one turn of the event loop go into one
 * commit; a save resolves when that commit is durable.
 */
export interface TaskStore {
  readonly rows: TaskRows;
  /** Who is told what becomes of which task. */
  readonly push: PushRows;
  /** Who is asked for which release. */
  readonly approvals: ApprovalRows;
  /** Which release saved tasks by which version of their chart. */
  readonly releases: ReleaseRows;
  /** What was said to the agent in chats. */
  readonly conversations: ConversationRows;
  /** Which channel of a chat a name stands for. */
  readonly channelNames: ChannelNameRows;
  /** Random keys of the agent, by their purpose. */
  readonly keys: KeyRows;
  /** What helps when it takes no writes, as the end of a sentence. */
  readonly remedy: string;
  /** What is wrong with the store, once a read or a write has run into it; `null` while it is sound. */
  readonly damage: StoreError | null;
  /** Events of the log that are committed, and whose file is not known to be on disk yet. */
  readonly unsynced: number;
  /** What of the log had to be mended when the store was opened. */
  readonly recovery: AuditRecovery;
  /** What was found when the store was opened: that it is older than its log, or was lost. */
  readonly opening: AuditOpening;
  /**
   * Saves a task with the next commit. `collect` is called then, once, however often a task is
   * saved in between. Rejects with ConflictError, UnrecordedError or UnsavableError.
   */
  save(id: string, collect: () => TaskWrite): Promise<void>;
  /** Writes events that belong to no change of a task. Rejects with UnrecordedError. */
  record(events: readonly AuditEvent[]): Promise<void>;
  /** Commits what is pending, now. Resolves with the reason when that was refused, else with `null`. */
  flush(): Promise<Error | null>;
  /** Returns whether the store takes writes, as far as is known; after a failure it is tried again. */
  isWritable(): boolean;
  /** Deletes final tasks that ended before a time, a bounded number at once; returns how many. */
  deleteEnded(before: number): Promise<number>;
  /** Writes a checkpoint with the next commit, unless nothing was written since the last one. */
  checkpoint(): void;
  /** Commits what is pending and closes the store. */
  close(): Promise<void>;
}
