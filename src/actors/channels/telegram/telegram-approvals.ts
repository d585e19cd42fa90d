import { GrammyError } from 'grammy/web';
import { LRUCache } from 'lru-cache';
import {
  type ApprovalNews,
  type ApprovalNotice,
  type MessageRef,
  splitTarget,
} from '../../../machines/channels/approval-notice.ts';
import { chatProvider, type DecisionAttempt } from '../../../machines/governance/approvers.ts';
import { type DecisionAnswer, needsReason } from '../../../machines/governance/decision.ts';
import { oneLine } from '../../../machines/legible.ts';
import { keptStart } from '../../../machines/text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { rest } from '../../rest.ts';
import { SystemError } from '../../system-error.ts';
import { type ApprovalAuthority, type ApprovalPlaces, DeliveryError } from '../channel-adapter.ts';
import { outcomeText } from '../console/console-lines.ts';
import type { TelegramSelf } from './hear-message.ts';
import type { TelegramClient } from './telegram-client.ts';
import { buttonData, buttonsOf, telegramText } from './telegram-message.ts';
import type { TelegramClick, TelegramMessage } from './telegram-update.ts';

export interface TelegramApprovalsOptions {
  client: TelegramClient;
  approvals: Pick<ApprovalAuthority, 'decide'>;
  places: Pick<ApprovalPlaces, 'at'>;
  /** Verified emails of people, by their id in Telegram. */
  people: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
}

/** A question for the reason of a decision. */
interface Question {
  verb: DecisionAttempt['verb'];
  userId: number;
  place: Place;
  deferralId: string;
}

type Place = { chat: number; message: number };

type Sender = NonNullable<TelegramMessage['from']>;

/** The beginning of every question for a reason, by which a reply to an old one is recognised. */
const questionStart = 'Reason needed:';

/** Time in which a message that is visible in Telegram must be stored, and polling interval, both in milliseconds. */
const posting = { patience: 1_500, interval: 50 };

/** Maximum open questions. */
const mostQuestions = 1_000;

const words = {
  misplaced: 'This message is out of date or belongs to no approval, so nothing was decided.',
  unlisted: 'You are not listed under people of this agent, so nothing was decided.',
  cut: 'A part of the call is not shown here, so nothing was decided. Approve it elsewhere.',
  failed: 'The decision could not be recorded, so nothing was decided. Try again in a moment.',
  otherPerson: 'The question is for another person, so nothing was decided.',
  closed: 'This question is closed, so nothing was decided. Press the button again.',
  noReason: 'A reason is needed, so nothing was decided. Reply with a message.',
  asked: 'Reply to the question with the reason.',
} as const;

/** Posts approvals to chats, and turns presses of their buttons into decisions (docs/contract/chat.md). */
export class TelegramApprovals {
  readonly #options: TelegramApprovalsOptions;
  readonly #questions = new LRUCache<string, Question>({ max: mostQuestions });

  constructor(options: TelegramApprovalsOptions) {
    this.#options = options;
  }

  /** Posts a notice to the chat of its target. Rejects with DeliveryError. */
  async post(notice: ApprovalNotice, signal: AbortSignal): Promise<MessageRef> {
    const chat = Number(splitTarget(notice.request.target).target);
    if (!Number.isSafeInteger(chat) || chat === 0) {
      throw new DeliveryError('telegram: the target is no chat id; write the number of the chat', {
        fault: 'target',
      });
    }
    const { text } = telegramText(notice);
    const sent = await this.#options.client.ask(
      'send an approval',
      (api, abort) =>
        api.sendMessage(
          chat,
          text,
          { reply_markup: buttonsOf(notice), link_preview_options: { is_disabled: true } },
          abort,
        ),
      { signal },
    );
    // A group that was upgraded has another id than the target.
    return { chat: sent.chat.id, message: sent.message_id };
  }

  /** Updates a message to the current notice; a reminder is also a reply, so that people notice it. */
  async update(
    ref: MessageRef,
    notice: ApprovalNotice,
    news: ApprovalNews,
    signal: AbortSignal,
  ): Promise<void> {
    const { chat, message } = ref;
    if (typeof chat !== 'number' || typeof message !== 'number') {
      throw new DeliveryError('telegram: the chat of the message is unknown', { fault: 'gone' });
    }
    const { text } = telegramText(notice);
    const keyboard = buttonsOf(notice);
    const { client } = this.#options;
    await client.ask(
      'change an approval',
      (api, abort) =>
        api
          .editMessageText(chat, message, text, { reply_markup: keyboard }, abort)
          .catch(unlessUnchanged),
      { signal },
    );
    if (news !== 'reminded') return;
    const late = `Half of the time is over, and a decision is still missing. Without one the call is denied at ${new Date(notice.request.expiresAt).toISOString()}.`;
    await client.ask(
      'send a reminder',
      (api, abort) => api.sendMessage(chat, late, replyTo(message), abort),
      { signal },
    );
  }

  /** Handles a press of a button. Never rejects. */
  async press(click: TelegramClick, self: TelegramSelf, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const said = await this.#pressed(click, self, signal).catch((error: unknown) => {
      log.warn({ error }, 'telegram: a decision could not be recorded');
      return words.failed;
    });
    // Telegram refuses an answer after some minutes; the decision is kept.
    await this.#options.client
      .ask(
        'answer a button',
        (api, abort) =>
          api.answerCallbackQuery(
            click.id,
            said === null ? {} : { text: keptStart(said, 190), show_alert: true },
            abort,
          ),
        { signal },
      )
      .catch(() => undefined);
  }

  /**
   * Handles a reply to a question for a reason; resolves with false if the message is no such reply. Never rejects.
   */
  async reply(message: TelegramMessage, self: TelegramSelf, signal: AbortSignal): Promise<boolean> {
    const { reply_to_message: to, chat, from } = message;
    if (to?.from?.id !== self.id || to.message_id === undefined || from === undefined) return false;
    if (to.text?.startsWith(questionStart) !== true) return false;
    const key = keyOf({ chat: chat.id, message: to.message_id });
    const { log } = this.#options;
    const said = await this.#replied(message, from, key, signal).catch((error: unknown) => {
      log.warn({ error }, 'telegram: a decision could not be recorded');
      return words.failed;
    });
    if (said !== null) await this.#say(chat.id, message.message_id, said, signal);
    return true;
  }

  async #replied(
    { text, sender_chat: inTheNameOf }: TelegramMessage,
    from: Sender,
    key: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    const question = this.#questions.get(key);
    if (question === undefined) return words.closed;
    if (from.is_bot || inTheNameOf !== undefined || from.id !== question.userId) {
      return words.otherPerson;
    }
    if (text === undefined || text.trim() === '') return words.noReason;
    const notice = await this.#noticeAt(question.place, signal);
    if (notice?.request.deferralId !== question.deferralId) return words.misplaced;
    const said = await this.#decide(question.verb, text.trim(), from, notice);
    if (said !== words.noReason) this.#questions.delete(key);
    return said;
  }

  async #pressed(
    { data, from, message }: TelegramClick,
    self: TelegramSelf,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (message === undefined || message.from?.id !== self.id || from.is_bot)
      return words.misplaced;
    const place = { chat: message.chat.id, message: message.message_id };
    const notice = await this.#noticeAt(place, signal);
    if (notice === null) return words.misplaced;
    const { request, outcome } = notice;
    const { approve, reject } = buttonData(request.deferralId);
    if (data !== approve && data !== reject) return words.misplaced;
    if (outcome !== null) return `Nothing was decided: the call ${outcomeText(outcome)}.`;
    const verb = data === approve ? 'approve' : 'reject';
    if (verb === 'approve' && telegramText(notice).isCut) return words.cut;
    if (this.#emailOf(from) !== null && needsReason(request, verb)) {
      await this.#ask({ verb, userId: from.id, place, deferralId: request.deferralId }, signal);
      return words.asked;
    }
    return this.#decide(verb, '', from, notice);
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { place, verb } = question;
    const text = `${questionStart} reply to this message with the reason to ${verb} the call.`;
    const sent = await this.#options.client.ask(
      'ask for a reason',
      (api, abort) =>
        api.sendMessage(
          place.chat,
          text,
          { ...replyTo(place.message), reply_markup: { force_reply: true, selective: true } },
          abort,
        ),
      { signal },
    );
    this.#questions.set(keyOf({ chat: place.chat, message: sent.message_id }), question);
  }

  /** Submits a decision; returns what the person is to read, `null` if the message itself shows it. */
  async #decide(
    verb: DecisionAttempt['verb'],
    note: string,
    from: Sender,
    { request }: ApprovalNotice,
  ): Promise<string | null> {
    const { approvals, clock } = this.#options;
    const email = this.#emailOf(from);
    const id = `telegram:${from.id}`;
    try {
      const answer = await approvals.decide(request.taskId, {
        verb,
        approver: email ?? `${keptStart(oneLine(from.first_name), 100)} (${id})`,
        email,
        note,
        caller: { provider: chatProvider, userId: id, ...(email === null ? {} : { email }) },
        deferralId: request.deferralId,
        argsSha256: request.argsSha256,
        at: clock.now(),
        source: 'telegram',
        ...(email === null ? { isUntrusted: true } : {}),
      });
      return email === null && answer.kind === 'forbidden'
        ? words.unlisted
        : answerText(answer, request.quorum);
    } catch (error) {
      if (error instanceof SystemError && error.code === 'unchecked') return error.message;
      throw error;
    }
  }

  #emailOf({ id, is_bot: isBot }: Sender): string | null {
    const { people } = this.#options;
    return !isBot && Object.hasOwn(people, String(id)) ? (people[String(id)] ?? null) : null;
  }

  /** Returns the notice of a message of ours; waits for one that is just being posted. */
  async #noticeAt(place: Place, signal: AbortSignal): Promise<ApprovalNotice | null> {
    const { places, clock } = this.#options;
    const until = clock.now() + posting.patience;
    for (;;) {
      const notice = await places.at(place, 'telegram');
      if (notice !== null || clock.now() >= until) return notice;
      await rest(posting.interval, clock, signal);
    }
  }

  async #say(chat: number, message: number, text: string, signal: AbortSignal): Promise<void> {
    await this.#options.client
      .ask(
        'answer a reason',
        (api, abort) => api.sendMessage(chat, text, replyTo(message), abort),
        { signal },
      )
      .catch(() => undefined);
  }
}

/** Telegram refuses an edit that changes nothing, such as one that is repeated after a crash. */
function unlessUnchanged(error: unknown): true {
  if (error instanceof GrammyError && /message is not modified/i.test(error.description))
    return true;
  throw error;
}

function keyOf({ chat, message }: Place): string {
  return `${chat}.${message}`;
}

function replyTo(message: number) {
  return { reply_parameters: { message_id: message, allow_sending_without_reply: true } };
}

const past = { approve: 'approved', reject: 'rejected' } as const;

function answerText(answer: DecisionAnswer, quorum: number): string | null {
  switch (answer.kind) {
    case 'resolved':
      return null;
    case 'recorded':
      return `Your approval is recorded; the call needs ${quorum}.`;
    case 'forbidden':
      return 'You are not allowed to decide this. It is still waiting.';
    case 'noReason':
      return words.noReason;
    case 'noPasskey':
      return 'This call needs a passkey, so nothing was decided. Approve it on the approvals page.';
    case 'decided':
      return `Nothing was decided: already ${past[answer.settled.decision]} by ${oneLine(answer.settled.approver)}.`;
    case 'otherArguments':
    case 'otherRuns':
      return 'The call has changed since this message, so nothing was decided.';
    default:
      return 'This approval has ended, so nothing was decided.';
  }
}
