import type {
  ApprovalNotice,
  ApprovalRequest,
  MessageRef,
} from '../../../../machines/channels/approval-notice.ts';
import {
  chatProvider,
  type DecisionAttempt,
  isApprover,
} from '../../../../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../../../machines/governance/decision.ts';
import { readEntry } from '../../../../machines/governance/standing.ts';
import { oneLine } from '../../../../machines/legible.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { SystemError } from '../../../system-error.ts';
import type { ApprovalAuthority } from '../../channel-adapter.ts';
import { pause } from '../../time-limit.ts';
import { linkFault } from '../link/slack-failure.ts';
import {
  isPassing,
  personId,
  type SlackPerson,
  type UserDirectory,
} from '../link/user-directory.ts';
import {
  answerWords,
  needsEmail,
  refusalWords,
  type SlackApprover,
} from '../messages/answer-words.ts';
import { cut } from '../messages/escape.ts';
import type { MessagePlace } from '../messages/reject-modal.ts';
import type { Sender } from './read-interaction.ts';

export interface SlackDecisionsOptions {
  people: Pick<UserDirectory, 'find' | 'noteFailure'>;
  approvals: ApprovalAuthority;
  clock: Clock;
  log: Log;
}

/** State of the message on which a user decides; `misplaced` if it is not the current message. */
export type Standing =
  | { kind: 'unknown' }
  | { kind: 'waiting'; notice: ApprovalNotice }
  /** `live` is the place of the current message; `null` while that is unknown. */
  | { kind: 'misplaced'; notice: ApprovalNotice; live: MessageRef | null }
  /** `isPostedHere` is true if the deferral was posted in this channel, possibly in another message. */
  | { kind: 'ended'; notice: ApprovalNotice; isPostedHere: boolean };

/** The outcome of a decision. */
export interface Verdict {
  /** Text for the approver; `null` if the approval message itself shows the outcome. */
  words: string | null;
  /** False if the same decision may be retried. */
  isRecorded: boolean;
}

/** A decision made in Slack. */
export interface SlackDecision {
  verb: DecisionAttempt['verb'];
  note: string;
  sender: Sender;
  notice: ApprovalNotice;
  isMisplaced: boolean;
  /** True if a part of the call was not shown, so the call cannot be approved yet. */
  isUnseen?: boolean;
}

/** Time in which a message visible in Slack must be stored, and polling interval, both in milliseconds. */
const posting = { patience: 1_500, interval: 20 };

/**
 * Maximum length of a display name, in characters. With the user id appended, it stays below the limit of an approver.
 */
const longestName = 200;

/** Submits the decisions of Slack users, as the decisions endpoint does (docs/contract/chat.md). */
export class SlackDecisions {
  readonly #options: SlackDecisionsOptions;

  constructor(options: SlackDecisionsOptions) {
    this.#options = options;
  }

  /**
   * Returns the state of a message; waits for a message that is just being posted. Rejects when the store cannot be
   * read.
   */
  async standing({ deferralId, channel, ts }: MessagePlace): Promise<Standing> {
    const { approvals, clock } = this.#options;
    const until = clock.now() + posting.patience;
    for (;;) {
      const kept = await approvals.find(deferralId, 'slack');
      const [first] = kept;
      if (first === undefined) return { kind: 'unknown' };
      const nearby = kept.filter(({ ref }) => ref?.['channel'] === channel);
      const here = nearby.find(({ ref }) => ref?.['ts'] === ts);
      const { notice } = here ?? nearby[0] ?? first;
      if (notice.outcome !== null) {
        return { kind: 'ended', notice, isPostedHere: nearby.length > 0 };
      }
      if (here !== undefined) return { kind: 'waiting', notice };
      const isPosting = kept.some(({ ref }) => ref === null);
      if (!isPosting) return { kind: 'misplaced', notice, live: (nearby[0] ?? first).ref };
      if (clock.now() >= until) return { kind: 'misplaced', notice, live: null };
      await pause(clock, posting.interval);
    }
  }

  /**
   * Returns whether any decision of this user would be refused; the task makes the final check. Returns false if the
   * user cannot be looked up: the decision itself looks them up again. Never rejects.
   */
  async isRefused(sender: Sender, { request }: ApprovalNotice): Promise<boolean> {
    const person = await this.#options.people.find(sender.userId).catch(() => null);
    if (person === null) return false;
    const approver = approverOf(sender, person);
    const { approvers } = request;
    // The members of a group are known only when they decide.
    const isByEmail = approvers?.every((entry) => readEntry(entry) === null) === true;
    const isUnlisted = isByEmail && !isApprover(approvers, { email: approver.email, as: [] });
    return isUntrusted(approver, request) || isUnlisted;
  }

  /** Submits a decision to its task and returns the outcome. Never rejects. */
  async decide(decision: SlackDecision): Promise<Verdict> {
    const { sender, notice, isMisplaced } = decision;
    const { approvals, log } = this.#options;
    const { taskId } = notice.request;
    try {
      const found = await this.#lookUp(sender, notice);
      if (!('email' in found)) return found;
      const approver = approverOf(sender, found);
      const answer = await approvals.decide(taskId, this.#attempt(decision, approver));
      if (isMisplaced && answer.kind === 'forbidden') {
        return { words: refusalWords.misplaced, isRecorded: true };
      }
      const counted = await this.#approvals(notice, answer);
      const words = answerWords(answer, { notice, approver, approvals: counted });
      return { words, isRecorded: true };
    } catch (error) {
      log.warn({ error, task_id: taskId }, 'slack: a decision could not be recorded');
      if (error instanceof SystemError && error.code === 'unchecked') {
        return { words: refusalWords.uncheckedMember, isRecorded: false };
      }
      return { words: refusalWords.unrecorded, isRecorded: false };
    }
  }

  /** Returns the user, or a reply if the look-up failed; a failed look-up is not a refusal. */
  async #lookUp({ userId }: Sender, { request }: ApprovalNotice): Promise<SlackPerson | Verdict> {
    const { people } = this.#options;
    try {
      return await people.find(userId);
    } catch (error) {
      people.noteFailure(error);
      if (isPassing(error)) return { words: refusalWords.unchecked, isRecorded: false };
      if (isUncheckable(error) && (request.approvers !== null || needsEmail(request))) {
        return { words: refusalWords.uncheckable, isRecorded: true };
      }
      return { name: userId, email: null };
    }
  }

  #attempt(
    { verb, note, sender, notice: { request }, isMisplaced, isUnseen = false }: SlackDecision,
    approver: SlackApprover,
  ): DecisionAttempt {
    const { email } = approver;
    // Four eyes identifies the requester by user id, even without an email.
    const userId = personId(sender.teamId ?? '', sender.userId);
    return {
      verb,
      approver: approver.name,
      email,
      note,
      caller: { provider: chatProvider, userId, ...(email === null ? {} : { email }) },
      deferralId: request.deferralId,
      argsSha256: request.argsSha256,
      at: this.#options.clock.now(),
      source: 'slack',
      ...((isMisplaced || isUnseen || isUntrusted(approver, request)) && { isUntrusted: true }),
    };
  }

  /** Counts the approvals after an answer, including approvals not yet in the store. */
  async #approvals({ request }: ApprovalNotice, answer: DecisionAnswer): Promise<number> {
    if (answer.kind !== 'recorded') return 0;
    // The decision is already on disk, so a failed read must not affect it.
    const found = this.#options.approvals.find(request.deferralId, 'slack').catch(() => []);
    const [kept] = await found;
    const names = [...request.approvals, ...(kept?.notice.request.approvals ?? [])].map(
      ({ approver }) => approver,
    );
    return new Set([...names, answer.approver].map((name) => name.toLowerCase())).size;
  }
}

/** Returns whether the app lacks the permission to look up users, such as a scope. */
function isUncheckable(error: unknown): boolean {
  return linkFault(error).lasting === true;
}

/** A display name is not unique and may even be another user's email, so the user id is appended. */
function approverOf({ userId }: Sender, { name, email, isBarred }: SlackPerson): SlackApprover {
  const barred = isBarred === true;
  if (email !== null) return { name: email, email, isBarred: barred };
  const shown = cut(oneLine(name, userId), longestName);
  return { name: shown === userId ? userId : `${shown} (${userId})`, email, isBarred: barred };
}

/** Returns whether no decision of this user counts, even if the user is a listed approver. */
function isUntrusted(
  { email, isBarred = false }: SlackApprover,
  request: ApprovalRequest,
): boolean {
  return isBarred || (email === null && needsEmail(request));
}
