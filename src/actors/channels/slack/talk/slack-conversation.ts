import type { WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { hintText, useButtonsText } from '../../../../machines/channels/conversation-words.ts';
import { tooLate } from '../../../../machines/channels/outcome-words.ts';
import type { JsonObject } from '../../../../machines/json.ts';
import type { Log } from '../../../ports/log.ts';
import type { ApprovalPlaces } from '../../channel-adapter.ts';
import type { ChatMark, ChatMessage, ConversationPort } from '../../conversation-port.ts';
import type { SlackEnvelope, SlackSelf } from '../link/slack-envelope.ts';
import { deliveryError } from '../link/slack-failure.ts';
import {
  isPassing,
  personId,
  type SlackPerson,
  type UserDirectory,
} from '../link/user-directory.ts';
import { escapeMarkup } from '../messages/escape.ts';
import { readMarkup } from '../messages/read-markup.ts';
import { longestMessage, slackMarkdown } from '../messages/slack-markdown.ts';
import { cutAt, partsOf } from '../messages/text-parts.ts';
import { type MessageEvent, readMessageEvent } from './message-event.ts';
import { SlackMarks } from './slack-marks.ts';

export interface SlackConversationOptions {
  web: Pick<WebClient, 'chat' | 'reactions' | 'filesUploadV2'>;
  people: Pick<UserDirectory, 'person' | 'find'>;
  /** The app's identity in Slack; while it is `null`, messages are ignored. */
  self: () => SlackSelf | null;
  /** Identifies approval threads; when absent, no thread is recognised as one. */
  places?: Pick<ApprovalPlaces, 'at'>;
  log: Log;
}

/** The address of an answer: the message, and the thread that it belongs to or starts. */
interface Place {
  channel: string;
  ts: string;
  thread: string;
}

/** Maximum characters of a long answer posted to the thread along with its file. */
const longestOpening = 600;

/** Maximum characters and number of parts of a long answer without a file. */
const parts = { limit: 3_900, most: 10 };

/** Receives and sends Slack messages: mentions and direct messages, answered in their thread. */
export class SlackConversation implements ConversationPort {
  readonly #options: SlackConversationOptions;
  readonly #marks: SlackMarks;
  /** Messages without text that were already answered; Slack may redeliver them. */
  readonly #hinted = new LRUCache<string, true>({ max: 1_000 });
  #mayUpload = true;

  constructor(options: SlackConversationOptions) {
    this.#options = options;
    this.#marks = new SlackMarks(options);
  }

  /**
   * Reads an `events_api` envelope and returns its message to the agent, which the caller must acknowledge. Returns
   * `null` for any other event, which is acknowledged here, and for a message that cannot be read yet, so that Slack
   * redelivers it. Never rejects.
   */
  async read(envelope: SlackEnvelope): Promise<ChatMessage | null> {
    const { self, log } = this.#options;
    let message: ChatMessage | null = null;
    try {
      const us = self();
      const said = us === null ? null : readMessageEvent(envelope.body, us);
      if (us !== null && said !== null) message = await this.#heard(said, us);
    } catch (error) {
      const failure = deliveryError(error, 'reading');
      log.error({ error: failure.message }, 'slack: a message was not read');
      if (failure.fault === 'later') return null;
    }
    // Without the acknowledgement Slack redelivers the event, which is then recognised as a duplicate.
    if (message === null) await envelope.ack().catch(() => undefined);
    return message;
  }

  async mark(ref: JsonObject, mark: ChatMark, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#marks.show(placeOf(ref), mark);
  }

  async say(ref: JsonObject, markdown: string, signal: AbortSignal): Promise<void> {
    const place = placeOf(ref);
    signal.throwIfAborted();
    const text = slackMarkdown(markdown);
    if (text !== null && text.length <= longestMessage) return this.#post(place, text);
    if (this.#mayUpload && (await this.#upload(place, markdown))) return;
    const write = (piece: string) => slackMarkdown(piece) ?? escapeMarkup(piece);
    for (const part of partsOf(markdown, { ...parts, write })) {
      signal.throwIfAborted();
      await this.#post(place, part);
    }
  }

  async #heard(said: MessageEvent, self: SlackSelf): Promise<ChatMessage | null> {
    const { people } = this.#options;
    const { teamId, channel, user, ts, threadTs } = said;
    const ref = { channel, ts, thread: threadTs };
    if (await this.#isAboutApproval(said)) return null;
    const nameOf = async (id: string) => (await people.person(id)).name;
    const text = await readMarkup(said.text, { botUserId: self.botUserId, nameOf });
    // One message can arrive as two events: a mention and a direct message.
    const id = `${channel}:${ts}`;
    if (text === '') {
      if (this.#hinted.has(id)) return null;
      this.#hinted.set(id, true);
      await this.#post(ref, hintText);
      return null;
    }
    return {
      adapter: 'slack',
      id,
      thread: `slack.${teamId}.${channel}.${threadTs}`,
      text,
      from: { id: personId(teamId, user), ...(await this.#speaker(user)) },
      ref,
    };
  }

  /** Answers a message in an approval thread, where text neither decides nor starts a task. */
  async #isAboutApproval({ channel, ts, threadTs }: MessageEvent): Promise<boolean> {
    if (ts === threadTs) return false;
    const notice = await this.#options.places?.at({ channel, ts: threadTs }, 'slack');
    if (notice === undefined || notice === null) return false;
    const id = `${channel}:${ts}`;
    if (this.#hinted.has(id)) return true;
    this.#hinted.set(id, true);
    const words = notice.outcome === null ? useButtonsText : tooLate(notice);
    await this.#post({ channel, ts, thread: threadTs }, escapeMarkup(words));
    return true;
  }

  /**
   * Looks up the author of a message. Rejects with DeliveryError on a transient failure: without their email, users
   * could approve their own calls.
   */
  async #speaker(user: string): Promise<SlackPerson> {
    const { people } = this.#options;
    try {
      return await people.find(user);
    } catch (error) {
      if (isPassing(error)) throw deliveryError(error, 'looking up the author of a message');
      return people.person(user);
    }
  }

  async #post({ channel, thread }: Place, text: string): Promise<void> {
    const quiet = { unfurl_links: false, unfurl_media: false };
    try {
      await this.#options.web.chat.postMessage({ channel, thread_ts: thread, text, ...quiet });
    } catch (error) {
      throw deliveryError(error, `answering in ${channel}`);
    }
  }

  /** Returns whether the file was uploaded; a permanent failure must not withhold the answer. */
  async #upload({ channel, thread }: Place, markdown: string): Promise<boolean> {
    const opening = cutAt(markdown.trim(), longestOpening);
    const comment = `${slackMarkdown(opening) ?? escapeMarkup(opening)}\n…\n_The full answer is in the file._`;
    try {
      await this.#options.web.filesUploadV2({
        channel_id: channel,
        thread_ts: thread,
        filename: 'answer.md',
        content: markdown,
        initial_comment: comment,
      });
      return true;
    } catch (error) {
      const failure = deliveryError(error, `uploading a long answer to ${channel}`);
      if (failure.fault === 'later') throw failure;
      this.#mayUpload = false;
      this.#options.log.warn({ error: failure.message }, 'slack: long answers are sent in parts');
      return false;
    }
  }
}

/** Parses the reference that `read` created. Throws TypeError for any other reference. */
function placeOf({ channel, ts, thread }: JsonObject): Place {
  if (typeof channel === 'string' && typeof ts === 'string' && typeof thread === 'string') {
    return { channel, ts, thread };
  }
  throw new TypeError('this is no place in Slack');
}
