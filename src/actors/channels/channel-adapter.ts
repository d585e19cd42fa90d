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
  /** True when people can decide where its messages appear, so that `to` may name it. */
  approvals: boolean;
  /** True when messages of people can become tasks. */
  conversations: boolean;
}

/** The connection state of an adapter; it delivers messages while `connected` or `draining`. */
export type ChannelState = ConnectionState;

/** An adapter for one chat or other medium. A broken adapter never breaks a task. */
export interface ChannelAdapter {
  /** The middle of `channel:<adapter>:<target>`. */
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly state: ChannelState;
  /**
   * Maximum concurrent messages of one target; one by default. A service that takes one at a time means
   * its whole target when it asks for time.
   */
  readonly mostAtOnce?: number;
  /** Begins to connect and returns at once; `onState` hears each change of `state`. Never throws. */
  start(onState: (state: ChannelState) => void): void;
  /** Closes the adapter; undelivered messages are delivered after the next start. */
  stop(): Promise<void>;
  /** Asks for a release. Rejects with DeliveryError. */
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
 * Why a notice was not delivered: `later` is transient; `target` lasts until a person fixes the target,
 * such as a bot that is in no channel; `gone` is a message that is no longer there, or cannot be changed any more, and is
 * posted anew while the call waits; `message` will never be taken.
 */
export type DeliveryFault = 'later' | 'target' | 'gone' | 'message';

/** A failed delivery; the message names reason and remedy without secrets. */
export class DeliveryError extends Error {
  readonly code = 'delivery_failed';
  readonly fault: DeliveryFault;
  /** Milliseconds that the service asks to be left alone for; `null` when it did not say. */
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

/** The daemon's side of an adapter through which people decide. */
export interface ApprovalAuthority {
  /**
   * Returns the rows of a deferral for the targets of one adapter; empty for an unknown deferral. Rejects when the store
   * cannot be read.
   */
  find(deferralId: string, adapter: string): Promise<KeptNotice[]>;
  /** Puts a decision to a task, as the decisions endpoint does. Rejects with SystemError. */
  decide(taskId: string, attempt: DecisionAttempt): Promise<DecisionAnswer>;
}

/** What the daemon knows of the messages of an adapter by their places. */
export interface ApprovalPlaces {
  /** Returns the notice whose message is in a place; `null` where none of ours is. Rejects when the store cannot be read. */
  at(ref: MessageRef, adapter: string): Promise<ApprovalNotice | null>;
  /** Has the message in a place posted anew if it is gone while its call waits. Rejects when the store cannot be read. */
  doubt(ref: MessageRef, adapter: string): Promise<void>;
}
