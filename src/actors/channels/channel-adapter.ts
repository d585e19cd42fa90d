import type {
  ApprovalNews,
  ApprovalNotice,
  MessageRef,
} from '../../machines/channels/approval-notice.ts';
import type { ConnectionState } from '../../machines/channels/connection-machine.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../machines/governance/decision.ts';

/** The capabilities of an adapter (docs/contract/chat.md). */
export interface ChannelCapabilities {
  /** True if approvals are decided in its messages, so `to` may name the adapter. */
  approvals: boolean;
  /** True if users' messages can become tasks. */
  conversations: boolean;
}

/** The connection state of an adapter; it delivers messages while `connected` or `draining`. */
export type ChannelState = ConnectionState;

/** An adapter for one chat or other medium. A broken adapter never breaks a task. */
export interface ChannelAdapter {
  /** The adapter name in `channel:<adapter>:<target>`. */
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly state: ChannelState;
  /**
   * Maximum concurrent messages of one target; one by default. When the service of an adapter with one asks for time,
   * the whole target pauses.
   */
  readonly mostAtOnce?: number;
  /** Starts connecting and returns at once; `onState` receives each change of `state`. Never throws. */
  start(onState: (state: ChannelState) => void): void;
  /** Closes the adapter; undelivered messages are sent after the next start. */
  stop(): Promise<void>;
  /** Posts an approval request. Rejects with DeliveryError. */
  deliver(notice: ApprovalNotice, signal: AbortSignal): Promise<MessageRef>;
  /** Updates a message to the current notice. Rejects with DeliveryError. */
  update(
    ref: MessageRef,
    notice: ApprovalNotice,
    news: ApprovalNews,
    signal: AbortSignal,
  ): Promise<void>;
}

/**
 * Why a notice was not delivered. `later`: transient. `target`: lasts until a person fixes the target, such as a bot
 * that is in no channel. `gone`: the message was deleted or can no longer be edited; it is posted anew while the call
 * waits. `message`: the service will never accept it.
 */
export type DeliveryFault = 'later' | 'target' | 'gone' | 'message';

/** A failed delivery; the message names reason and remedy without secrets. */
export class DeliveryError extends Error {
  readonly code = 'delivery_failed';
  readonly fault: DeliveryFault;
  /** Retry delay that the service asks for, in milliseconds; `null` if it named none. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    {
      fault,
      retryAfter = null,
      cause,
    }: { fault: DeliveryFault; retryAfter?: number | null; cause?: unknown },
  ) {
    super(message, { cause });
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}

/** The current notice and the reference of its message; `ref` is `null` before delivery. */
export interface KeptNotice {
  notice: ApprovalNotice;
  ref: MessageRef | null;
}

/** The people whom approver entries name, as emails and as Slack user groups. */
export interface ApproverAddresses {
  emails: readonly string[];
  slackGroups: readonly string[];
}

/** The daemon's lookup of the people who may approve. */
export interface ApproverPeople {
  /** Returns the people whom approver entries name now. */
  addressesOf(entries: readonly string[]): ApproverAddresses;
  /** Ids of the Slack user groups whose members belong to groups. */
  slackGroups(): readonly string[];
  /** Reads the members of Slack user groups by this function from now on. */
  readSlackGroups(members: (id: string) => Promise<readonly string[]>): void;
}

/** The daemon's interface for adapters through which people decide. */
export interface ApprovalAuthority {
  /**
   * Returns the rows of a deferral for the targets of one adapter; empty for an unknown deferral. Rejects when the store
   * cannot be read.
   */
  find(deferralId: string, adapter: string): Promise<KeptNotice[]>;
  /** Submits a decision to a task, as the decisions endpoint does. Rejects with SystemError. */
  decide(taskId: string, attempt: DecisionAttempt): Promise<DecisionAnswer>;
}

/** The daemon's lookup of an adapter's messages by place. */
export interface ApprovalPlaces {
  /**
   * Returns the notice of the message in a place; `null` for a message that is not ours. Rejects when the store cannot
   * be read.
   */
  at(ref: MessageRef, adapter: string): Promise<ApprovalNotice | null>;
  /**
   * Requests a new post of the message in a place if the message is gone while its call still waits. Rejects when the
   * store cannot be read.
   */
  doubt(ref: MessageRef, adapter: string): Promise<void>;
}
