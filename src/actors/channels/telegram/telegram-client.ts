import { Api, type Transformer } from 'grammy/web';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { TelegramSettings } from '../channel-settings.ts';
import { telegramFailure } from './telegram-failure.ts';

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
