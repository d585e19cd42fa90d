import type { WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../../ports/log.ts';
import type { ChatMark } from '../../conversation-port.ts';
import { deliveryError, slackCode } from '../link/slack-failure.ts';

export interface SlackMarksOptions {
  web: Pick<WebClient, 'reactions'>;
  log: Log;
}

export interface SlackMessage {
  channel: string;
  ts: string;
}

const emojis: Record<ChatMark, string> = {
  working: 'hourglass_flowing_sand',
  waiting: 'raised_hand',
  done: 'white_check_mark',
  failed: 'x',
};

/** Refusals that mean that the mark is already in the wanted state. */
const harmless: ReadonlySet<string | null> = new Set(['already_reacted', 'no_reaction']);

/** Shows the state of answers as reactions to messages; does nothing if the app may not react. */
export class SlackMarks {
  readonly #options: SlackMarksOptions;
  readonly #shown = new LRUCache<string, ChatMark>({ max: 1_000 });
  #isForbidden = false;

  constructor(options: SlackMarksOptions) {
    this.#options = options;
  }

  /** Replaces the previous mark. Rejects with DeliveryError. */
  async show(message: SlackMessage, mark: ChatMark): Promise<void> {
    const key = `${message.channel} ${message.ts}`;
    const before = this.#shown.get(key);
    if (before === mark || this.#isForbidden) return;
    await this.#react('add', message, mark);
    this.#shown.set(key, mark);
    for (const old of outdated(before, mark)) await this.#react('remove', message, old);
  }

  async #react(verb: 'add' | 'remove', { channel, ts }: SlackMessage, mark: ChatMark) {
    const { web, log } = this.#options;
    try {
      await web.reactions[verb]({ channel, timestamp: ts, name: emojis[mark] });
    } catch (error) {
      const code = slackCode(error);
      if (harmless.has(code)) return;
      const failure = deliveryError(error, `marking a message in ${channel}`);
      if (code !== 'missing_scope') throw failure;
      if (this.#isForbidden) return;
      this.#isForbidden = true;
      const message = 'slack: messages get no reaction while they are processed';
      log.warn({ error: failure.message }, message);
    }
  }
}

/** Returns the marks to remove; after a restart the current mark is unknown. */
function outdated(before: ChatMark | undefined, mark: ChatMark): ChatMark[] {
  if (before !== undefined) return [before];
  return mark === 'done' || mark === 'failed' ? ['working', 'waiting'] : [];
}
