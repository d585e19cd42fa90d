import { createHash } from 'node:crypto';
import type { ReactionTypeEmoji } from 'grammy/types';
import { InputFile } from 'grammy/web';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import type { Log } from '../../ports/log.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { ChatMark, ConversationPort } from '../conversation-port.ts';
import type { TelegramRef } from './hear-message.ts';
import type { TelegramClient } from './telegram-client.ts';

/** Maximum length of a message, in UTF-16 code units. */
const longestMessage = 4_096;

/** Maximum messages of one answer; a longer answer is sent as a file. */
const mostMessages = 5;

const longestCaption = 1_000;

/** Reactions that every bot may use. */
const reactions: Readonly<Record<ChatMark, ReactionTypeEmoji['emoji']>> = {
  working: '👀',
  waiting: '✍',
  done: '👍',
  failed: '👎',
};

const refShape = z.object({ chat: z.int(), message: z.int(), thread: z.int().nullable() });

/** Posts to Telegram chats in plain text: no part of an answer is parsed as markup. */
export class TelegramConversation implements ConversationPort {
  readonly #client: TelegramClient;
  readonly #log: Log;
  /** Number of parts already sent of an unfinished answer, so no part is sent twice. */
  readonly #sent = new LRUCache<string, number>({ max: 100 });
  #hasWarned = false;

  constructor({ client, log }: { client: TelegramClient; log: Log }) {
    this.#client = client;
    this.#log = log;
  }

  /** Sets a reaction, and shows that the bot is typing while it works. Never rejects on a refusal by Telegram. */
  async mark(ref: JsonObject, mark: ChatMark, signal: AbortSignal): Promise<void> {
    const { chat, message, thread } = readRef(ref);
    const asked = [
      this.#client.ask(
        'mark a message',
        (api, abort) =>
          api.setMessageReaction(
            chat,
            message,
            [{ type: 'emoji', emoji: reactions[mark] }],
            {},
            abort,
          ),
        { signal },
      ),
    ];
    if (mark === 'working') {
      const topic = thread === null ? {} : { message_thread_id: thread };
      asked.push(
        this.#client.ask(
          'show that the bot is typing',
          (api, abort) => api.sendChatAction(chat, 'typing', topic, abort),
          { signal },
        ),
      );
    }
    for (const outcome of await Promise.allSettled(asked)) {
      if (outcome.status === 'rejected') this.#warnOnce(outcome.reason as DeliveryError);
    }
  }

  /** Answers a message: in up to five messages, else as `answer.md`. Rejects with DeliveryError. */
  async say(ref: JsonObject, markdown: string, signal: AbortSignal): Promise<void> {
    const to = readRef(ref);
    const text = spoken(markdown, to);
    if (text.length > mostMessages * longestMessage) return this.#sendFile(to, text, signal);
    const parts = splitAnswer(text, longestMessage);
    if (parts.length > mostMessages) return this.#sendFile(to, text, signal);
    const key = createHash('sha256')
      .update(JSON.stringify([to, text]))
      .digest('hex');
    for (const [index, part] of parts.entries()) {
      if (index < (this.#sent.get(key) ?? 0)) continue;
      await this.#client.ask(
        'send a message',
        (api, abort) =>
          api.sendMessage(
            to.chat,
            part,
            { ...replyTo(to), link_preview_options: { is_disabled: true } },
            abort,
          ),
        { signal },
      );
      this.#sent.set(key, index + 1);
    }
    this.#sent.delete(key);
  }

  async #sendFile(to: TelegramRef, text: string, signal: AbortSignal): Promise<void> {
    const [beginning = ''] = splitAnswer(text.slice(0, 2 * longestCaption), longestCaption);
    const bytes = new TextEncoder().encode(text);
    await this.#client.ask(
      'send a file',
      (api, abort) =>
        api.sendDocument(
          to.chat,
          new InputFile(bytes, 'answer.md'),
          { ...replyTo(to), caption: `${beginning} …` },
          abort,
        ),
      { signal, patience: 60_000 },
    );
  }

  #warnOnce(failure: DeliveryError): void {
    if (this.#hasWarned || failure.fault === 'later') return;
    this.#hasWarned = true;
    this.#log.warn({}, `${failure.message}; answers are sent without reactions in that chat`);
  }
}

function readRef(ref: JsonObject): TelegramRef {
  const read = refShape.safeParse(ref);
  if (read.success) return read.data;
  throw new DeliveryError('telegram: could not answer: the chat is unknown', {
    fault: 'message',
  });
}

function replyTo({ message, thread }: TelegramRef) {
  return {
    reply_parameters: { message_id: message, allow_sending_without_reply: true },
    ...(thread !== null && { message_thread_id: thread }),
  };
}

/** Group ids are negative. In groups an `@` is separated from the name after it, so that no user is mentioned. */
function spoken(markdown: string, { chat }: TelegramRef): string {
  const text = markdown.toWellFormed().trim() || '(The answer is empty.)';
  return chat > 0 ? text : text.replaceAll(/(?<![\p{L}\p{N}_])@(?=\w{2})/gu, '@\u2060');
}

/**
 * Splits a string into parts of at most `most` UTF-16 code units: at a line end in the second half of a part if there is
 * one, else between words, and never inside a character. White space at the cuts is dropped.
 */
export function splitAnswer(text: string, most: number): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const at = cutOf(rest, most);
    parts.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return rest === '' ? parts : [...parts, rest];
}

function cutOf(text: string, most: number): number {
  const line = text.lastIndexOf('\n', most);
  if (line > most / 2) return line;
  const word = text.lastIndexOf(' ', most);
  if (word > most / 2) return word;
  const isInsideCharacter = (text.codePointAt(most - 1) ?? 0) > 0xffff;
  return isInsideCharacter ? most - 1 : most;
}
