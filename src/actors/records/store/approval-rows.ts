import type { ApprovalNotice, MessageRef } from '../../../machines/channels/approval-notice.ts';
import {
  type AskedRecord,
  type EndedRecord,
  noticeOf,
} from '../../../machines/channels/notice-of.ts';
import {
  columnReader,
  isWorthSharing,
  type SharedColumn,
  type SharedValue,
  SharedValues,
} from './shared-values.ts';
import { type ValuesSql, valuesIn } from './task-row.ts';

/** Returns the columns of a notice. */
export function noticeColumns({ asJson, place }: ValuesSql): string {
  const values = valuesIn(['asked', 'told'], {
    ...{ selected: asJson, task: 'approval_notices.task_id', place },
  });
  return `position, adapter, target, version, asked, ended, ref, told, coalesce(${values}, '{}') AS shared`;
}

/** The columns of a notice as read. */
export interface NoticeColumns {
  position: number;
  adapter: string;
  target: string;
  version: number;
  asked: string;
  ended: string | null;
  ref: string | null;
  told: string | null;
  shared: SharedColumn;
}

/** Parses a row. Safe to cast: the columns contain only values that commits and `keep` wrote. */
export function noticeRowOf({
  asked,
  ended,
  ref,
  told,
  shared,
  target,
  ...row
}: NoticeColumns): ApprovalRow {
  const read = columnReader(shared);
  const parsed = <Value>(text: string | null) => (text === null ? null : (read(text) as Value));
  const wait = read(asked) as AskedRecord;
  return {
    position: row.position,
    adapter: row.adapter,
    version: row.version,
    notice: noticeOf(target, wait, parsed<EndedRecord>(ended)),
    ref: parsed<MessageRef>(ref),
    told: parsed<ApprovalNotice>(told),
  };
}

/** Returns the JSON of the content of a posted message, and its shared values. */
export function toldColumn(told: ApprovalNotice): { json: string; values: SharedValue[] } {
  const json = JSON.stringify(told);
  if (!isWorthSharing([json])) return { json, values: [] };
  const shared = new SharedValues();
  return { json: shared.askedJson(told), values: shared.values };
}

/** The stored notice of one held call for one target. */
export interface ApprovalRow {
  /** Increases with each new row. */
  position: number;
  adapter: string;
  /** Number of changes that led to `notice`. */
  version: number;
  notice: ApprovalNotice;
  /** Place of the message; `null` if none is posted. */
  ref: MessageRef | null;
  /** Content of the posted message; `null` if there is none or no update is needed. */
  told: ApprovalNotice | null;
}

/** The rows of one target with, or without, a posted message. */
export interface ApprovalSlot {
  /** `channel:<adapter>:<target>` */
  target: string;
  isPosted: boolean;
}

/** Delivery result of a row: its target received a version, or never will. */
export interface ApprovalWrite {
  position: number;
  version: number;
  /** `null` keeps the stored one. */
  ref: MessageRef | null;
  told: ApprovalNotice;
  /** True if nothing remains to be delivered. */
  isClosed: boolean;
}

/** Undelivered notices of one adapter. */
export interface ApprovalBacklog {
  adapter: string;
  /** Approval requests that have not been posted. */
  unposted: number;
  /** Posted messages that are outdated. */
  stale: number;
  /** Time at which the oldest of these calls was held, in epoch milliseconds. */
  oldestAt: number;
}

/**
 * Approval notices of an agent. The rows are written in the commit that parks a task, changes what its approvers see or
 * ends its wait.
 */
export interface ApprovalRows {
  /** Returns the rows of a deferral for the targets of one adapter, oldest first. */
  find(deferralId: string, adapter: string): Promise<ApprovalRow[]>;
  /** Returns the row of the message in a place; `undefined` for a message that is not ours. */
  findAt(adapter: string, ref: MessageRef): Promise<ApprovalRow | undefined>;
  /** Marks the posted message of a waiting call for another update, since it may have been deleted. */
  doubt(position: number): Promise<void>;
  /** Returns the rows of a task for all targets, oldest first. */
  ofTask(taskId: string): Promise<ApprovalRow[]>;
  /** Returns the ids of tasks that wait for approval. */
  waiting(): Promise<string[]>;
  /** Returns the next slot of an adapter with due rows, after `after`; the first one for `null`. */
  nextSlot(adapter: string, after: ApprovalSlot | null): Promise<ApprovalSlot | undefined>;
  /** Returns the due row of a slot with the earliest deadline, excluding some positions. */
  nextDue(
    adapter: string,
    slot: ApprovalSlot,
    except?: readonly number[],
  ): Promise<ApprovalRow | undefined>;
  /** Saves delivery results in one commit; later changes remain due. A power failure may lose the commit. */
  keep(writes: readonly ApprovalWrite[]): Promise<void>;
  /** Counts due rows by adapter. */
  backlog(): Promise<ApprovalBacklog[]>;
}
