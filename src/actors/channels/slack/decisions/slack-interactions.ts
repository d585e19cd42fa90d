import type { ModalView } from '@slack/types';
import type { ApprovalNotice } from '../../../../machines/channels/approval-notice.ts';
import { tooLate } from '../../../../machines/channels/outcome-words.ts';
import { needsReason } from '../../../../machines/governance/decision.ts';
import { late, within } from '../../time-limit.ts';
import { RecentArrivals } from '../link/recent-arrivals.ts';
import type { SlackEnvelope, SlackSelf } from '../link/slack-envelope.ts';
import { deliveryError } from '../link/slack-failure.ts';
import { refusalWords } from '../messages/answer-words.ts';
import { approveModal, isLastPage, unapprovedModal } from '../messages/approve-modal.ts';
import { callBlocks } from '../messages/call-blocks.ts';
import { longestReason, refusalInModal } from '../messages/reject-modal.ts';
import { type Click, readInteraction, type Submission } from './read-interaction.ts';
import { SlackDecisions, type SlackDecisionsOptions, type Verdict } from './slack-decisions.ts';
import { SlackReplies, type SlackRepliesOptions } from './slack-replies.ts';

export interface SlackInteractionsOptions extends SlackDecisionsOptions, SlackRepliesOptions {
  /** The app's identity in Slack; while it is `null` every interaction is dropped. */
  self: () => SlackSelf | null;
}

/** Timeouts in milliseconds. Slack allows three seconds for opening a modal and for answering a submission. */
const patience = { person: 1_000, modal: 3_000, submission: 2_500 };

/** Turns clicks and modal submissions in Slack into decisions (docs/contract/chat.md). */
export class SlackInteractions {
  readonly #options: SlackInteractionsOptions;
  readonly #decisions: SlackDecisions;
  readonly #replies: SlackReplies;
  readonly #recent: RecentArrivals<object | undefined>;

  constructor(options: SlackInteractionsOptions) {
    this.#options = options;
    this.#decisions = new SlackDecisions(options);
    this.#replies = new SlackReplies(options);
    this.#recent = new RecentArrivals(options.clock);
  }

  /** Acknowledges an interaction and handles it; an interaction of another app is only acknowledged. Never rejects. */
  async handle(envelope: SlackEnvelope): Promise<void> {
    const interaction = readInteraction(envelope.body);
    if (interaction === null) return this.#acknowledge(envelope);
    if (!this.#isForUs(interaction)) {
      const { log } = this.#options;
      log.warn(
        { envelope: envelope.id },
        'slack: a click for another app or workspace was dropped',
      );
      return this.#acknowledge(envelope);
    }
    if (interaction.kind === 'click') return this.#hearClick(envelope, interaction);
    return this.#hearSubmission(envelope, interaction);
  }

  async #hearClick(envelope: SlackEnvelope, click: Click): Promise<void> {
    const names = [`envelope ${envelope.id}`, `click ${click.userId} ${click.clickedAt}`];
    const isNew = this.#recent.find(names) === undefined;
    if (isNew) this.#recent.remember(names, Promise.resolve(undefined));
    await this.#acknowledge(envelope);
    if (!isNew) return;
    const isDone = await this.#takeClick(click).catch(async (error: unknown) => {
      const { words } = this.#failure(error);
      await this.#tell(click, words, null);
      return false;
    });
    if (!isDone) this.#recent.forget(names);
  }

  /** Resolves with false if the click may be retried. */
  async #takeClick(click: Click): Promise<boolean> {
    const { place, verb } = click;
    const standing = await this.#decisions.standing(place);
    if (standing.kind === 'unknown') {
      await this.#tell(click, refusalWords.unknown, null);
      return true;
    }
    const { notice } = standing;
    if (standing.kind === 'ended') {
      if (standing.isPostedHere) await this.#replies.fix(place, notice);
      await this.#tell(click, tooLate(notice), notice);
      return true;
    }
    const isMisplaced = standing.kind === 'misplaced';
    const isUnseen = verb === 'approve' && callBlocks(notice.request).isCut;
    const isReasoned = verb === 'reject' || needsReason(notice.request, verb);
    const isModal = (isReasoned || isUnseen) && !isMisplaced;
    const isAsked = isModal && !(await this.#isRefused(click, notice));
    if (isAsked && (await this.#isOpened(click, notice))) return true;
    if (isAsked && isUnseen) {
      await this.#tell(click, refusalWords.unshown, notice);
      return false;
    }
    const decision = { verb, note: '', sender: click, notice, isMisplaced, isUnseen };
    const { words, isRecorded } = await this.#decisions.decide(decision);
    if (standing.kind === 'misplaced') await this.#replies.supersede(place, notice, standing.live);
    await this.#tell(click, words ?? (isAsked ? refusalWords.noModal : null), notice);
    return isRecorded;
  }

  /**
   * Resolves with false if Slack is slow to return the user: the modal cannot wait, and its submission is checked
   * again.
   */
  async #isRefused(click: Click, notice: ApprovalNotice): Promise<boolean> {
    const refused = this.#decisions.isRefused(click, notice);
    return (await within(this.#options.clock, patience.person, refused)) === true;
  }

  async #isOpened({ triggerId, place, verb }: Click, notice: ApprovalNotice): Promise<boolean> {
    const opened =
      verb === 'reject'
        ? this.#replies.askWhy(triggerId, place, notice)
        : this.#replies.showAll(triggerId, place, notice);
    return (await within(this.#options.clock, patience.modal, opened)) === true;
  }

  async #hearSubmission(envelope: SlackEnvelope, submission: Submission): Promise<void> {
    const names = [`envelope ${envelope.id}`];
    const before = this.#recent.find(names);
    if (before !== undefined) return this.#acknowledge(envelope, await before);
    const verdict = this.#answerTo(submission).catch(
      (error: unknown): ModalVerdict => this.#failure(error),
    );
    const early = within(this.#options.clock, patience.submission, verdict);
    const answer = early.then((soon) => (soon === late ? undefined : inModal(submission, soon)));
    this.#recent.remember(names, answer);
    await this.#acknowledge(envelope, await answer);
    const { words, isRecorded, view } = await verdict;
    if (!isRecorded) this.#recent.forget(names);
    if ((await early) === late && view !== undefined) {
      return this.#tell(submission, refusalWords.unshown, null);
    }
    if ((await early) === late) await this.#tell(submission, words, null);
  }

  async #answerTo(submission: Submission): Promise<ModalVerdict> {
    const { place, verb, page, reason: note } = submission;
    const refuse = (words: string): Verdict => ({ words, isRecorded: true });
    if (place === null) return refuse(refusalWords.unknown);
    if ([...note].length > longestReason) return refuse(refusalWords.tooLong);
    const standing = await this.#decisions.standing(place);
    if (standing.kind === 'unknown') return refuse(refusalWords.unknown);
    const { notice } = standing;
    if (standing.kind === 'ended') return refuse(tooLate(notice));
    const isMisplaced = standing.kind === 'misplaced';
    if (verb === 'approve' && !isLastPage(notice.request, page)) {
      return { words: null, isRecorded: true, view: approveModal(notice.request, place, page + 1) };
    }
    return this.#decisions.decide({
      verb,
      note,
      sender: submission,
      notice,
      isMisplaced,
    });
  }

  #isForUs({ appId, teamId }: Click | Submission): boolean {
    const self = this.#options.self();
    if (self === null || teamId !== self.teamId) return false;
    return self.appId === null || appId === self.appId;
  }

  async #acknowledge(envelope: SlackEnvelope, response?: object): Promise<void> {
    try {
      await (response === undefined ? envelope.ack() : envelope.ack(response));
    } catch (error) {
      const { message } = deliveryError(error, 'acknowledging a click');
      this.#options.log.warn({ envelope: envelope.id }, message);
    }
  }

  async #tell(
    { place, userId }: Click | Submission,
    words: string | null,
    notice: ApprovalNotice | null,
  ): Promise<void> {
    if (words === null || place === null) return;
    await this.#replies.tell({ channel: place.channel, userId }, words, notice);
  }

  #failure(error: unknown): Verdict {
    this.#options.log.error({ error }, 'slack: a click could not be handled; the approval waits');
    return { words: refusalWords.unrecorded, isRecorded: false };
  }
}

/** The outcome of a submission, or the next page of the call. */
type ModalVerdict = Verdict & { view?: ModalView };

function inModal({ verb }: Submission, { words, view }: ModalVerdict): object | undefined {
  if (view !== undefined) return { response_action: 'update', view };
  if (words === null) return undefined;
  return verb === 'reject'
    ? refusalInModal(words)
    : { response_action: 'update', view: unapprovedModal(words) };
}
