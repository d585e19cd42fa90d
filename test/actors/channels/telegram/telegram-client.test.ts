import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { DeliveryError } from '../../../../src/actors/channels/channel-adapter.ts';
import { TelegramClient } from '../../../../src/actors/channels/telegram/telegram-client.ts';
import type { Outbound } from '../../../../src/actors/ports/egress.ts';
import { FakeTelegram, type TelegramFault } from '../../../helpers/fake-telegram.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { anEgress, failureOf } from '../../outbound/egress/an-egress.ts';

let fake: FakeTelegram;
let clock: ManualClock;

beforeEach(async () => {
  fake = await FakeTelegram.start();
  clock = new ManualClock(0);
});

const canary = /canary/;

function aClient({
  token = fake.token,
  apiUrl = fake.apiUrl,
  outbound = { fetch: globalThis.fetch } as Pick<Outbound, 'fetch'>,
} = {}): TelegramClient {
  return new TelegramClient({ settings: { token, apiUrl }, outbound, clock });
}

/** Says `canary-words` to a chat. */
function speak(client = aClient(), signal = new AbortController().signal): Promise<unknown> {
  return client.ask(
    'send a message',
    (api, abort) => api.sendMessage(7, 'canary-words', {}, abort),
    { signal },
  );
}

/** How a call failed, once it is certain that nothing in the error tells the token or what was said. */
async function faultOf(call: Promise<unknown>) {
  const error = (await failureOf(call)) as DeliveryError;
  expect(error).toBeInstanceOf(DeliveryError);
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(canary);
  const { message, fault, retryAfter } = error;
  return { message, fault, retryAfter };
}

const failing = (why: string, fault: string, retryAfter: number | null = null) => ({
  message: `telegram: could not send a message: ${why}`,
  fault,
  retryAfter,
});

const badToken =
  'Telegram rejected the bot token; copy it from @BotFather again and restart the agent';
const unreachable = 'Telegram cannot be reached, or returned an unknown response';
const lostChat = 'the chat is gone or closed to the bot; add it to the chat again';
const shutOut =
  'Telegram lets the bot write there no longer: it was blocked, or is not in the group; add it again';

describe('TelegramClient', () => {
  it('sends a request and resolves with the result', async () => {
    const self = await aClient().ask('ask who the bot is', (api, abort) => api.getMe(abort), {
      signal: new AbortController().signal,
    });
    expect(self).toEqual(fake.self);
    expect(fake.calls).toEqual([{ method: 'getMe', args: {} }]);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, TelegramFault, ReturnType<typeof failing>]>([
    ['a revoked token', { status: 401 }, failing(badToken, 'target')],
    ['an invalid token', { status: 404 }, failing(badToken, 'target')],
    ['a blocked bot', { status: 403 }, failing(shutOut, 'target')],
    ['a deleted chat', { status: 400 }, failing(lostChat, 'target')],
    [
      'a closed topic',
      { status: 400, description: 'Bad Request: TOPIC_CLOSED' },
      failing(lostChat, 'target'),
    ],
    [
      'a refused message',
      { status: 400, description: 'Bad Request: canary-telegram-token' },
      failing('Telegram refuses it with 400', 'message'),
    ],
    [
      'a limit',
      { status: 429, retryAfter: 7 },
      failing('Telegram rate limit reached', 'later', 7_000),
    ],
    [
      'a rate limit without a time',
      { status: 429 },
      failing('Telegram rate limit reached', 'later'),
    ],
    ['a failure', { status: 500 }, failing('Telegram fails with 500', 'later')],
    ['a page', 'html', failing(unreachable, 'later')],
    ['a reset', 'reset', failing(unreachable, 'later')],
  ])('rejects on %s without a secret in the error', async (_, fault, told) => {
    fake.fail('sendMessage', fault);
    expect(await faultOf(speak())).toEqual(told);
    expect(clock.pending).toBe(0);
  });

  it.each(['null', '[]', '"ok"', '{"ok":false}', '{"ok":false,"error_code":"x","parameters":1}'])(
    'rejects on the answer %s',
    async (body) => {
      const outbound = { fetch: async () => new Response(body) };
      expect(await faultOf(speak(aClient({ outbound })))).toMatchObject({ fault: 'later' });
    },
  );

  it('times out after ten seconds', async () => {
    fake.fail('sendMessage', 'hang');
    const failed = faultOf(speak());
    await fake.reached('sendMessage');
    clock.advance(10_000);
    expect(await failed).toEqual(failing('no answer within 10 s', 'later'));
  });

  it('aborts on its signal', async () => {
    fake.fail('sendMessage', 'hang');
    const stop = new AbortController();
    const failed = faultOf(speak(aClient(), stop.signal));
    await fake.reached('sendMessage');
    stop.abort();
    expect(await failed).toEqual(failing('the agent stops', 'later'));
    expect(clock.pending).toBe(0);
  });

  it('sends nothing after an abort', async () => {
    expect(await faultOf(speak(aClient(), AbortSignal.abort()))).toMatchObject({ fault: 'later' });
    expect(fake.calls).toEqual([]);
  });

  it('keeps its host for any content of the token', async () => {
    const asked: string[] = [];
    const outbound = {
      fetch: async (input: unknown) => {
        asked.push(String(input));
        return new Response('{"ok":true,"result":true}');
      },
    };
    await speak(aClient({ token: '1:a/../../b?x=#', outbound }));
    expect(asked).toEqual([`${fake.apiUrl}/bot1:a%2F..%2F..%2Fb%3Fx%3D%23/sendMessage`]);
  });

  it('follows no redirect', async () => {
    const outbound = { fetch: (input: unknown, init?: RequestInit) => fetch(`${input}`, init) };
    fake.fail('sendMessage', { redirect: '/elsewhere' });
    expect(await faultOf(speak(aClient({ outbound })))).toEqual(failing(unreachable, 'later'));
    expect(fake.calls.map(({ method }) => method)).toEqual(['sendMessage']);
  });

  it('goes through the egress policy, which records only the host', async () => {
    const { egress, records } = anEgress();
    const apiUrl = fake.apiUrl.replace('127.0.0.1', 'telegram.example.test');
    await speak(aClient({ apiUrl, outbound: egress }));
    expect(fake.called('sendMessage')).toEqual([{ chat_id: 7, text: 'canary-words' }]);
    expect(records).toEqual([
      { scope: null, domain: 'telegram.example.test', mode: 'allowlist', reason: null },
    ]);
  });

  it('names the host that the egress policy refuses', async () => {
    const { egress } = anEgress({ allowedDomains: [] });
    const apiUrl = fake.apiUrl.replace('127.0.0.1', 'telegram.example.test');
    const why = 'egress blocked: telegram.example.test is not on the allowlist (mode=allowlist)';
    expect(await faultOf(speak(aClient({ apiUrl, outbound: egress })))).toEqual(
      failing(why, 'target'),
    );
    expect(fake.calls).toEqual([]);
  });

  it('follows a group to its supergroup, for this and later messages', async () => {
    const description = 'Bad Request: group chat was upgraded to a supergroup chat';
    fake.fail('sendMessage', { status: 400, description, movedTo: -1007 });
    const client = aClient();
    await speak(client);
    await speak(client);
    expect(fake.called('sendMessage').map(({ chat_id }) => chat_id)).toEqual([7, -1007, -1007]);
  });
});
