import { inspect } from 'node:util';
import { expect, onTestFinished, vi } from 'vitest';
import type { ChannelState } from '../../../../src/actors/channels/channel-adapter.ts';
import type { ChatMessage } from '../../../../src/actors/channels/conversation-port.ts';
import {
  createTelegramAdapter,
  type TelegramOptions,
} from '../../../../src/actors/channels/telegram/telegram-adapter.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

/** The differences of a test's adapter from one that accepts every user. */
export type TelegramWishes = Partial<Pick<TelegramOptions, 'conversations' | 'outbound'>> & {
  allowedUsers?: string[];
  token?: string;
  fake?: FakeTelegram;
};

/** Resolves once something is true. */
export function until(isTrue: () => boolean): Promise<boolean> {
  return vi.waitUntil(isTrue, { timeout: 15_000, interval: 2 });
}

/** An adapter that talks to a fake Telegram; stopped after the test, when it must not have told the token. */
export async function startTelegram(wishes: TelegramWishes = {}) {
  const { allowedUsers = null, fake = await FakeTelegram.start(), ...options } = wishes;
  const clock = new ManualClock(0);
  const heard: ChatMessage[] = [];
  const states: ChannelState[] = [];
  const logged: [level: string, fields: object, message: string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void logged.push([level, fields, message]);
  const adapter = createTelegramAdapter({
    settings: {
      ...{ token: options.token ?? fake.token, apiUrl: fake.apiUrl, allowedUsers },
      ...{ people: {}, conversations: true },
    },
    approvals: { decide: () => Promise.reject(new Error('nothing waits')) },
    places: { at: async () => null },
    outbound: options.outbound ?? { fetch: globalThis.fetch },
    conversations:
      options.conversations === undefined
        ? { receive: async (message) => heard.push(message) > 0 }
        : options.conversations,
    clock,
    log: { info: at('info'), warn: at('warn'), error: at('error') },
    random: () => 1,
  });
  onTestFinished(async () => {
    await adapter.stop();
    expect(inspect([logged, states], { depth: 20 })).not.toContain('canary');
  });
  adapter.start((state) => void states.push(state));
  /** Resolves once the adapter has been in so many states. */
  const changed = (count: number) => until(() => states.length >= count);
  return { adapter, fake, clock, heard, states, logged, changed };
}
