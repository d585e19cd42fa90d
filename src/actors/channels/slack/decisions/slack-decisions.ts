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
import { oneLine } from '../../../../machines/legible.ts';
import type { Clock, Log } from '../../../ports.ts';
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

/** The state of the message that a person decides on; `misplaced` when it is not the posted one. */
export type Standing =
  | { kind: 'unknown' }
  | { kind: 'waiting'; notice: ApprovalNotice }
  /** `live` is where the message is that counts; `null` while that is not known. */
  | { kind: 'misplaced'; notice: ApprovalNotice; live: MessageRef | null }
  /** `isPostedHere` when the deferral was shown in this channel, though maybe by another message. */
  | { kind: 'ended'; notice: ApprovalNotice; isPostedHere: boolean };

/** The outcome of a decision. */
export interface Verdict {
  /** A message for the decider; `null` when the approval message itself shows the outcome. */
  words: string | null;
  /** False when the same decision may be tried again. */
  isRecorded: boolean;
}

/** A decision made in Slack. */
export interface SlackDecision {
  verb: DecisionAttempt['verb'];
  note: string;
  sender: Sender;
  notice: ApprovalNotice;
  isMisplaced: boolean;
  /** True when a part of the call was not shown, so that it cannot be approved yet. */
  isUnseen?: boolean;
}

/** Milliseconds until a message that Slack shows must be stored, and milliseconds between two looks for it. */
const posting = { patience: 1_500, interval: 20 };

/** Longest name that Slack shows; with the id of a user it is still shorter than any approver may be. */
const longestName = 200;

/** Decides on behalf of people in Slack, as the decisions endpoint does (docs/contract/chat.md). */
export class SlackDecisions {
  readonly #options: SlackDecisionsOptions;

  constructor(options: SlackDecisionsOptions) {
    this.#options = options;
  }

  /** Tells how a message stands; one that is just being posted is waited for. Rejects when the store cannot be read. */
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
   * Tells whether any decision of this person is refused; the task has the last word. One who cannot be looked up is not:
   * that is found again when the decision comes. Never rejects.
   */
  async isRefused(sender: Sender, { request }: ApprovalNotice): Promise<boolean> {
    const person = await this.#options.people.find(sender.userId).catch(() => null);
    if (person === null) return false;
    const approver = approverOf(sender, person);
    return isUntrusted(approver, request) || !isApprover(request.approvers, approver.email);
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
      return { words: refusalWords.unrecorded, isRecorded: false };
    }
  }

  /** Returns a person, or the answer to one about whom nothing can be said: that is no refusal. */
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
    // Four eyes knows the requester by it even without an email.
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

  /** Counts the approvals there are after an answer, whether or not they have been kept by now. */
  async #approvals({ request }: ApprovalNotice, answer: DecisionAnswer): Promise<number> {
    if (answer.kind !== 'recorded') return 0;
    // The decision is on disk, whatever becomes of this reading.
    const found = this.#options.approvals.find(request.deferralId, 'slack').catch(() => []);
    const [kept] = await found;
    const names = [...request.approvals, ...(kept?.notice.request.approvals ?? [])].map(
      ({ approver }) => approver,
    );
    return new Set([...names, answer.approver].map((name) => name.toLowerCase())).size;
  }
}

/** Tells whether the app lacks the right to look people up, such as a scope. */
function isUncheckable(error: unknown): boolean {
  return linkFault(error).lasting === true;
}

/** A name can be anybody's, even another's email, so the id of the user goes with it. */
function approverOf({ userId }: Sender, { name, email, isBarred }: SlackPerson): SlackApprover {
  const barred = isBarred === true;
  if (email !== null) return { name: email, email, isBarred: barred };
  const shown = cut(oneLine(name, userId), longestName);
  return { name: shown === userId ? userId : `${shown} (${userId})`, email, isBarred: barred };
}

/** Tells whether no decision of this person counts, even for a listed approver. */
function isUntrusted(
  { email, isBarred = false }: SlackApprover,
  request: ApprovalRequest,
): boolean {
  return isBarred || (email === null && needsEmail(request));
}
