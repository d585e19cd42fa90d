import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../../../packages/fake-slack/fake-slack.ts';
import { fakeChannel } from '../../../../../packages/fake-slack/workspace/people.ts';
import type { DeliveryError } from '../../../../../src/actors/channels/channel-adapter.ts';
import {
  ChannelDirectory,
  type KeptNames,
} from '../../../../../src/actors/channels/slack/link/channel-directory.ts';
import { createSlackClient } from '../../../../../src/actors/channels/slack/link/slack-client.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function openDirectory(channels?: FakeSlackOptions['channels'], names?: KeptNames) {
  const slack = await FakeSlack.start(channels === undefined ? {} : { channels });
  onTestFinished(() => slack.close());
  const { botToken: token, apiUrl } = slack;
  const web = createSlackClient({ token, apiUrl, fetch: globalThis.fetch, log: silent });
  const clock = new ManualClock(1_000);
  const directory = new ChannelDirectory({ web, clock, ...(names && { names }) });
  return {
    slack,
    clock,
    resolve: (target: string) => directory.resolve(target),
    failure: (target: string) =>
      directory.resolve(target).catch((error: unknown) => {
        const { message, fault } = error as DeliveryError;
        return { message, fault };
      }),
    lists: () => slack.calls.filter(({ method }) => method === 'conversations.list').length,
  };
}

const named = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    fakeChannel({ id: `C${String(index).padStart(9, '0')}`, name: `room-${index}` }),
  );

describe('the channels of a workspace', () => {
  it('are used by id without a look-up', async () => {
    const { resolve, lists } = await openDirectory();
    expect([await resolve('C0123456789'), await resolve(' D0ABCDEFGH '), lists()]).toEqual([
      'C0123456789',
      'D0ABCDEFGH',
      0,
    ]);
  });

  it('are found by name with or without its sign, in any spelling, with one request', async () => {
    const { resolve, lists } = await openDirectory();
    const found = [await resolve('#refunds'), await resolve('Refunds'), await resolve('#FINANCE')];
    expect({ found, lists: lists() }).toEqual({
      found: ['C0REFUNDS1', 'C0REFUNDS1', 'C0FINANCE1'],
      lists: 2,
    });
  });

  it('are read from every page', async () => {
    const { resolve, lists, slack } = await openDirectory(named(450));
    const found = await resolve('room-449');
    expect({ found, lists: lists(), args: slack.calls[0]?.args }).toEqual({
      found: 'C000000449',
      lists: 3,
      args: { types: 'public_channel,private_channel', exclude_archived: true, limit: 200 },
    });
  });

  it('are requested once for concurrent look-ups', async () => {
    const { resolve, lists } = await openDirectory();
    const found = await Promise.all([resolve('#refunds'), resolve('refunds'), resolve('Refunds')]);
    expect([found, lists()]).toEqual([['C0REFUNDS1', 'C0REFUNDS1', 'C0REFUNDS1'], 1]);
  });

  it('are looked up again after an hour, and after a minute for an absent name', async () => {
    const { resolve, failure, lists, clock } = await openDirectory();
    const ask = async () => {
      await resolve('refunds');
      await failure('nowhere');
      return lists();
    };
    const counts = [await ask(), await ask()];
    for (const passed of [59_999, 1, 3_539_999, 1]) {
      clock.advance(passed);
      counts.push(await ask());
    }
    expect(counts).toEqual([2, 2, 2, 3, 4, 5]);
  });

  it('are not guessed for a missing, absent or ambiguous name', async () => {
    const { failure } = await openDirectory([
      fakeChannel({ id: 'C000000001', name: 'ops' }),
      fakeChannel({ id: 'C000000002', name: 'ops' }),
    ]);
    const told = [
      await failure(''),
      await failure('*'),
      await failure('#op'),
      await failure('#ops'),
    ];
    expect(told).toEqual([
      {
        message: 'slack: the target names no channel; write its name or id in "to"',
        fault: 'target',
      },
      {
        message: 'slack: the target names no channel; write its name or id in "to"',
        fault: 'target',
      },
      {
        message:
          'slack: no channel that the bot can see is called "op"; create it, or invite the bot if it is private',
        fault: 'target',
      },
      {
        message:
          'slack: more than one channel is called "ops" (C000000001 and C000000002); write the id of one of them in "to"',
        fault: 'target',
      },
    ]);
  });

  it('are requested again later when the store fails, instead of a wrong channel', async () => {
    const words = 'slack: the store failed to look up the channel "refunds"; retrying';
    const gone = () => Promise.reject(new Error('the server is gone'));
    const unread = await openDirectory(undefined, { find: gone, keep: async () => undefined });
    const unkept = await openDirectory(undefined, { find: async () => undefined, keep: gone });
    expect([await unread.failure('#refunds'), unread.lists()]).toEqual([
      { message: words, fault: 'later' },
      0,
    ]);
    expect(await unkept.failure('#refunds')).toEqual({ message: words, fault: 'later' });
  });

  it('keep the id that a name had at first', async () => {
    const kept = new Map<string, string>();
    const names: KeptNames = {
      find: async (name) => kept.get(name),
      keep: async (name, id) => void (kept.has(name) || kept.set(name, id)),
    };
    const first = await openDirectory(undefined, names);
    const before = await first.resolve('#Refunds');
    const renamed = fakeChannel({ id: 'C0REFUNDS1', name: 'refunds-2025' });
    const gone = await openDirectory([renamed], names);
    const other = fakeChannel({ id: 'C0INTRUDER', name: 'refunds' });
    const taken = await openDirectory([renamed, other], names);
    expect([
      before,
      await gone.resolve('#refunds'),
      await taken.failure('#refunds'),
      await taken.resolve('C0INTRUDER'),
      Object.fromEntries(kept),
    ]).toEqual([
      'C0REFUNDS1',
      'C0REFUNDS1',
      {
        message:
          'slack: "refunds" is a different channel (C0INTRUDER) than before (C0REFUNDS1), perhaps after a rename; set the id of the intended channel in "to"',
        fault: 'target',
      },
      'C0INTRUDER',
      { refunds: 'C0REFUNDS1' },
    ]);
  });

  it('are not cached when Slack fails, even on a later page', async () => {
    const { slack, failure, resolve } = await openDirectory(named(250));
    slack.fail({
      method: 'conversations.list',
      fault: { kind: 'refuse', error: 'missing_scope', needed: 'channels:read' },
    });
    const first = await failure('room-1');
    slack.fail({ method: 'conversations.list', fault: { kind: 'rateLimited', retryAfter: 2 } });
    const second = await failure('room-1');
    expect({ first, second, third: await resolve('room-1') }).toEqual({
      first: {
        message:
          'slack: looking up the channel failed: give the Slack app the scope channels:read and install it again (missing_scope)',
        fault: 'target',
      },
      second: {
        message: 'slack: looking up the channel failed: Slack rate limit reached',
        fault: 'later',
      },
      third: 'C000000001',
    });
  });
});
