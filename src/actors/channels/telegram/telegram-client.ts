import { Api, GrammyError, HttpError, type Transformer } from 'grammy/web';
import { LRUCache } from 'lru-cache';
import { EgressError, egressCause } from '../../outbound/outbound.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import { DeliveryError, type DeliveryFault } from '../channel-adapter.ts';
import type { TelegramSettings } from '../channel-settings.ts';

/** Interpretation of a refusal, worded to follow the failed operation. */
interface Meaning {
  fault: DeliveryFault;
  words: string;
}

const badToken: Meaning = {
  fault: 'target',
  words: 'Telegram rejected the bot token; copy it from @BotFather again and restart the agent',
};

const meanings: Readonly<Record<number, Meaning>> = {
  401: badToken,
  403: {
    fault: 'target',
    words:
      'Telegram lets the bot write there no longer: it was blocked, or is not in the group; add it again',
  },
  // Telegram answers a malformed token with 404.
  404: badToken,
  429: { fault: 'later', words: 'Telegram rate limit reached' },
};

const conflict: Meaning = {
  fault: 'target',
  words:
    'another process reads the messages of this bot; stop it, or use a separate bot for each agent',
};

const hookConflict: Meaning = {
  fault: 'target',
  words: 'another process keeps setting a webhook for this bot; use a separate bot for each agent',
};

const goneMessage = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

const lostChat =
  /chat not found|group chat was upgraded|not enough rights|have no rights|need administrator rights|WRITE_FORBIDDEN|TOPIC_|message thread not found/i;

/**
 * Converts a failed request to a DeliveryError that states the reason and whether a retry makes sense; `doing`
 * describes the operation, such as `send a message`. Drops grammy's error and Telegram's answer: the error holds
 * messages, the answer may contain the token.
 */
function telegramFailure(error: unknown, doing: string): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { fault, words } = meaningOf(error);
  const message = `telegram: could not ${doing}: ${words}`;
  return new DeliveryError(message, { fault, retryAfter: retryAfterOf(error) });
}

function meaningOf(error: unknown): Meaning {
  if (error instanceof GrammyError) return refusalOf(error);
  const refused = egressCause(error instanceof HttpError ? error.error : error);
  if (refused !== null) {
    return { fault: refused instanceof EgressError ? 'target' : 'later', words: refused.message };
  }
  return { fault: 'later', words: 'Telegram cannot be reached, or returned an unknown response' };
}

function refusalOf({ error_code: status, description }: GrammyError): Meaning {
  const text = String(description);
  if (status === 409) return /webhook/i.test(text) ? hookConflict : conflict;
  if (status === 400 && goneMessage.test(text)) {
    return { fault: 'gone', words: 'the message is gone, or cannot be changed any more' };
  }
  if (status === 400 && lostChat.test(text)) {
    const words = 'the chat is gone or closed to the bot; add it to the chat again';
    return { fault: 'target', words };
  }
  if (status >= 400 && status < 500) {
    return meanings[status] ?? { fault: 'message', words: `Telegram refuses it with ${status}` };
  }
  return { fault: 'later', words: `Telegram fails with ${Number(status)}` };
}

function retryAfterOf(error: unknown): number | null {
  if (!(error instanceof GrammyError)) return null;
  const { retry_after: seconds } = error.parameters;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : null;
}

export interface TelegramClientOptions {
  settings: Pick<TelegramSettings, 'token' | 'apiUrl'>;
  outbound: Pick<Outbound, 'fetch'>;
  clock: Clock;
}

/** AbortSignal as declared by grammy's types. */
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

export interface Patience {
  signal: AbortSignal;
  /** Timeout of the request in milliseconds; ten seconds by default. */
  patience?: number;
}

/** Longer than any of our timeouts, in seconds; disables grammy's timer, which does not use our clock. */
const neverInSeconds = 600;

/**
 * Telegram's bot API behind the egress policy. Every URL contains the token, so no URL may appear in errors or logs.
 */
export class TelegramClient {
  readonly #api: Api;
  readonly #clock: Clock;

  constructor({ settings: { token, apiUrl }, outbound, clock }: TelegramClientOptions) {
    this.#clock = clock;
    // grammy's Node build has its own AbortSignal, which Node's fetch refuses; this build uses the global one.
    this.#api = new Api(token, {
      apiRoot: apiUrl,
      fetch: outbound.fetch,
      sensitiveLogs: false,
      timeoutSeconds: neverInSeconds,
      // Telegram never redirects; following a redirect would send messages elsewhere.
      baseFetchConfig: { redirect: 'error' },
      buildUrl: (root, secret, method) => `${root}/bot${pathPart(secret)}/${method}`,
    });
    this.#api.config.use(followUpgrades());
  }

  /** Calls the bot API; `doing` describes the operation, such as `send a message`. Rejects with DeliveryError. */
  async ask<Result>(
    doing: string,
    run: (api: Api, signal: GrammySignal) => Promise<Result>,
    { signal, patience = 10_000 }: Patience,
  ): Promise<Result> {
    const tooLong = new AbortController();
    const timer = this.#clock.setTimeout(() => tooLong.abort(), patience);
    try {
      const either = AbortSignal.any([signal, tooLong.signal]);
      return await run(this.#api, either as unknown as GrammySignal);
    } catch (error) {
      if (signal.aborted) throw interrupted(doing, 'the agent stops');
      if (tooLong.signal.aborted)
        throw interrupted(doing, `no answer within ${patience / 1_000} s`);
      throw telegramFailure(error, doing);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }
}

/**
 * Redirects requests for a group that was upgraded to the supergroup that Telegram names, for this request and later
 * ones.
 */
function followUpgrades(): Transformer {
  const upgraded = new LRUCache<number, number>({ max: 1_000 });
  return async (send, method, payload, signal) => {
    const chat = Reflect.get(payload, 'chat_id') as unknown;
    if (typeof chat !== 'number') return send(method, payload, signal);
    const to = (id: number) => send(method, { ...payload, chat_id: id }, signal);
    const answer = await to(upgraded.get(chat) ?? chat);
    const next = answer.ok ? undefined : answer.parameters?.migrate_to_chat_id;
    if (next === undefined || next === chat) return answer;
    upgraded.set(chat, next);
    return to(next);
  };
}

function interrupted(doing: string, why: string): DeliveryError {
  return new DeliveryError(`telegram: could not ${doing}: ${why}`, { fault: 'later' });
}

function pathPart(token: string): string {
  return encodeURIComponent(token).replaceAll('%3A', ':');
}
