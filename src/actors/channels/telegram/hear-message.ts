import { keptStart } from '../../../machines/text.ts';
import type { ChatMessage, ChatPerson } from '../conversation-port.ts';
import type { TelegramMessage } from './telegram-update.ts';

/** The bot's identity in Telegram. */
export interface TelegramSelf {
  id: number;
  /** Without the `@`. */
  username: string;
  name: string;
}

/** The address of an answer; `thread` is the topic in a group with topics. */
export type TelegramRef = { chat: number; message: number; thread: number | null };

/** Outcome of a message: a task, a reply of the adapter itself, or a refusal. */
export type HeardMessage =
  | { kind: 'task'; message: ChatMessage }
  | { kind: 'hint'; ref: TelegramRef; text: string }
  | { kind: 'refusal'; ref: TelegramRef; person: string; text: string };

/** The bot, and the users whom it answers. */
export interface Hearing {
  self: TelegramSelf;
  /** User ids or names, with or without `@`; `null` for everybody. */
  allowedUsers: readonly string[] | null;
  /** Verified emails of people, by their id; none when absent. */
  people?: Readonly<Record<string, string>>;
}

type Sender = NonNullable<TelegramMessage['from']>;
type Entity = NonNullable<TelegramMessage['entities']>[number];

/**
 * Parses a message to the bot. Returns `null` for any other message: from a bot, in the name of a chat, or in a group
 * without a mention of the bot or a reply to it (docs/contract/chat.md).
 */
export function hearMessage(message: TelegramMessage, hearing: Hearing): HeardMessage | null {
  const { from, sender_chat: inTheNameOf, chat, isSaid } = message;
  if (from === undefined || from.is_bot || inTheNameOf !== undefined || !isSaid) return null;
  if (chat.type === 'channel') return null;
  const { self } = hearing;
  const isPrivate = chat.type === 'private';
  if (!isPrivate && !isAddressed(message, self)) return null;
  const ref = refOf(message);
  if (!isAllowed(from, hearing.allowedUsers)) {
    const text = `You are not on the list of users of this agent. Your Telegram id is ${from.id}; send it to the operator of the agent.`;
    return { kind: 'refusal', ref, person: personOf(from).id, text };
  }
  if (message.text === undefined && message.caption === undefined) {
    return { kind: 'hint', ref, text: 'I can read text only. Describe your request in a message.' };
  }
  const text = isPrivate ? wordsOf(message).text.trim() : withoutMention(message, self);
  if (text === '' || isGreeting(text, self)) {
    return { kind: 'hint', ref, text: greeting(self, isPrivate) };
  }
  return { kind: 'task', message: chatMessage(ref, text, personOf(from, hearing.people)) };
}

function chatMessage(ref: TelegramRef, text: string, from: ChatPerson): ChatMessage {
  const { chat, message, thread } = ref;
  return {
    adapter: 'telegram',
    id: `${chat}.${message}`,
    thread: `telegram.${chat}${thread === null ? '' : `.${thread}`}`,
    text,
    from,
    ref,
  };
}

function refOf(message: TelegramMessage): TelegramRef {
  const { chat, message_id: id, message_thread_id: thread, is_topic_message: isTopic } = message;
  // Outside topics Telegram's thread is the reply chain, which would separate a question from its follow-up.
  return { chat: chat.id, message: id, thread: isTopic === true ? (thread ?? null) : null };
}

function personOf(
  { id, first_name: first, last_name: last, username }: Sender,
  people: Hearing['people'] = {},
): ChatPerson {
  const email = Object.hasOwn(people, String(id)) ? (people[String(id)] ?? null) : null;
  const name = [first, last].filter(Boolean).join(' ').trim() || username || String(id);
  return { id: `telegram:${id}`, name: keptStart(name, 100).toWellFormed(), email };
}

function isAllowed({ id, username }: Sender, allowed: Hearing['allowedUsers']): boolean {
  if (allowed === null) return true;
  return allowed.some((entry) => {
    const name = entry.trim().replace(/^@/, '').toLowerCase();
    if (/^\d*$/.test(name)) return name === String(id);
    return name === username?.toLowerCase();
  });
}

function wordsOf(message: TelegramMessage): { text: string; entities: Entity[] } {
  const { text, entities, caption, caption_entities: captionEntities } = message;
  if (text !== undefined) return { text, entities: entities ?? [] };
  return { text: caption ?? '', entities: captionEntities ?? [] };
}

function isAddressed(message: TelegramMessage, self: TelegramSelf): boolean {
  const { text, entities } = wordsOf(message);
  if (entities.some((entity) => namesBot(text, entity, self))) return true;
  const { reply_to_message: repliedTo } = message;
  // A message in a topic counts as a reply to the topic's first message, regardless of its author.
  return repliedTo?.from?.id === self.id && repliedTo.forum_topic_created === undefined;
}

/** Offsets count UTF-16 code units, like string indexes. */
function namesBot(text: string, { type, offset, length, user }: Entity, self: TelegramSelf) {
  if (type === 'text_mention') return user?.id === self.id;
  const named = text.slice(offset, offset + length).toLowerCase();
  const mention = `@${self.username.toLowerCase()}`;
  if (type === 'mention') return named === mention;
  return type === 'bot_command' && named.endsWith(mention);
}

/** Removes the bot's name; of a command such as `/ask@DeskBot` only the arguments remain. */
function withoutMention(message: TelegramMessage, self: TelegramSelf): string {
  const { text, entities } = wordsOf(message);
  return entities
    .filter((entity) => namesBot(text, entity, self))
    .toSorted((one, other) => other.offset - one.offset)
    .reduce((rest, { type, offset, length }) => {
      const name = type === 'bot_command' ? self.username.length + 1 : length;
      const before = rest.slice(0, offset + length - name);
      return `${before.trimEnd()} ${rest.slice(offset + length).trimStart()}`;
    }, text)
    .trim();
}

function isGreeting(text: string, self: TelegramSelf): boolean {
  const [command = ''] = text.toLowerCase().split(/\s/, 1);
  const [name, bot] = command.split('@');
  return (
    ['/start', '/help'].includes(name ?? '') &&
    [undefined, self.username.toLowerCase()].includes(bot)
  );
}

function greeting({ name, username }: TelegramSelf, isPrivate: boolean): string {
  const how = isPrivate ? 'Write to me' : `Mention @${username} with a question, or reply to me`;
  return `I am ${name}. ${how}, and the answer comes here.`;
}
