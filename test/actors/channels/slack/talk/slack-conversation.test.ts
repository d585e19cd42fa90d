import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FakeSlack } from '../../../../../packages/fake-slack/fake-slack.ts';
import { DeliveryError } from '../../../../../src/actors/channels/channel-adapter.ts';
import { createSlackClient } from '../../../../../src/actors/channels/slack/link/slack-client.ts';
import type {
  SlackEnvelope,
  SlackSelf,
} from '../../../../../src/actors/channels/slack/link/slack-envelope.ts';
import { UserDirectory } from '../../../../../src/actors/channels/slack/link/user-directory.ts';
import {
  SlackConversation,
  type SlackConversationOptions,
} from '../../../../../src/actors/channels/slack/talk/slack-conversation.ts';
import { EgressError } from '../../../../../src/actors/outbound/egress/egress.ts';
import {
  hintText,
  useButtonsText,
} from '../../../../../src/machines/channels/conversation-words.ts';
import type { JsonObject } from '../../../../../src/machines/json.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';
import { aNotice, endings } from '../slack-notices.ts';

let slack: FakeSlack;
let self: SlackSelf;
let talk: SlackConversation;
let logged: [object, string][];
let acks: number;

const { signal } = new AbortController();

beforeEach(async () => {
  slack = await FakeSlack.start({ clock: new ManualClock(1_780_000_000_000) });
  onTestFinished(() => slack.close());
  const { appId, teamId, botUserId, botId } = slack.workspace;
  self = { appId, teamId, botUserId, botId, scopes: [] };
  logged = [];
  acks = 0;
  talk = aTalk();
});

/** The agent in Slack, as far as it gets through `fetch`. */
function aTalk(
  fetch = globalThis.fetch,
  more: Partial<SlackConversationOptions> = {},
): SlackConversation {
  const note = (fields: object, message: string) => void logged.push([fields, message]);
  const log = { info: note, warn: note, error: note };
  const web = createSlackClient({ token: slack.botToken, apiUrl: slack.apiUrl, fetch, log });
  const people = new UserDirectory({ web, clock: new ManualClock(0), self: () => self });
  return new SlackConversation({ web, people, self: () => self, log, ...more });
}

/** Something of the Events API, as Slack delivers it. */
function envelope(event: JsonObject, about: JsonObject = {}): SlackEnvelope {
  return {
    id: 'e-1',
    type: 'events_api',
    body: { team_id: self.teamId, api_app_id: self.appId, type: 'event_callback', event, ...about },
    ack: async () => void (acks += 1),
  };
}

const mention = (more: JsonObject = {}): JsonObject => ({
  type: 'app_mention',
  user: 'U0ANN00001',
  text: `<@${self.botUserId}> refund &lt;7&gt; for <@U0BOB00001>`,
  ts: '1780000000.000100',
  event_ts: '1780000000.000100',
  team: self.teamId,
  channel: 'C0GENERAL1',
  client_msg_id: 'c-1',
  ...more,
});

/** Something that Ann said in the fake workspace, where it can be answered. */
function said(channel = 'C0GENERAL1') {
  const message = slack.workspace.say({ channel, user: 'U0ANN00001', text: 'hello' });
  return { message, ref: { channel, ts: message.ts, thread: message.ts } };
}

/** What the agent said in a channel. */
const answers = (channel = 'C0GENERAL1') =>
  slack.messages(channel).filter(({ user }) => user === self.botUserId);

describe('a message from Slack', () => {
  it('may be a mention, with its author and its thread', async () => {
    expect(await talk.read(envelope(mention()))).toEqual({
      adapter: 'slack',
      id: 'C0GENERAL1:1780000000.000100',
      thread: `slack.${self.teamId}.C0GENERAL1.1780000000.000100`,
      text: 'refund <7> for @bob',
      from: {
        id: `slack:${self.teamId}/U0ANN00001`,
        name: 'ann',
        email: 'ann@example.com',
      },
      ref: { channel: 'C0GENERAL1', ts: '1780000000.000100', thread: '1780000000.000100' },
    });
    // Its receiver acknowledges it.
    expect(acks).toBe(0);
  });

  it('is delivered again while Slack does not name its author, who could be the requester', async () => {
    slack.fail({ method: 'users.info', times: 2, fault: { kind: 'rateLimited', retryAfter: 30 } });
    expect([await talk.read(envelope(mention())), acks, logged]).toEqual([
      null,
      0,
      [
        [
          {
            error: 'slack: looking up the author of a message failed: Slack rate limit reached',
          },
          'slack: a message was not read',
        ],
      ],
    ]);
    expect((await talk.read(envelope(mention())))?.from.email).toBe('ann@example.com');
  });

  it('may be a direct message, and belongs to its thread', async () => {
    const direct = {
      type: 'message',
      channel_type: 'im',
      channel: 'D0ANN00001',
      text: 'and 8?',
      thread_ts: '1780000000.000001',
    };
    expect(await talk.read(envelope(mention(direct)))).toMatchObject({
      thread: `slack.${self.teamId}.D0ANN00001.1780000000.000001`,
      text: 'and 8?',
      ref: { channel: 'D0ANN00001', ts: '1780000000.000100', thread: '1780000000.000001' },
    });
  });

  it('is one message when it arrives as a mention and as a direct message', async () => {
    const both = [
      mention({ channel: 'D0ANN00001' }),
      mention({ type: 'message', channel_type: 'im', channel: 'D0ANN00001', client_msg_id: 'c-2' }),
    ];
    const heard = await Promise.all(both.map((event) => talk.read(envelope(event))));
    expect(heard.map((message) => message?.id)).toEqual(
      Array(2).fill('D0ANN00001:1780000000.000100'),
    );
  });

  it.each<[string, JsonObject, JsonObject?]>([
    ['the agent itself', { user: 'U0HOLDPNT1' }],
    ['another bot', { bot_id: 'B0OTHER001' }],
    ['a bot without a user', { subtype: 'bot_message', bot_id: 'B0OTHER001' }],
    ['an edit', { edited: { user: 'U0ANN00001', ts: '1780000001.000000' } }],
    ['an edited message', { type: 'message', channel_type: 'im', subtype: 'message_changed' }],
    ['a deleted message', { type: 'message', channel_type: 'im', subtype: 'message_deleted' }],
    ['a person who joins', { type: 'message', channel_type: 'im', subtype: 'channel_join' }],
    ['a message to others', { type: 'message', channel_type: 'channel' }],
    ['a person of another workspace', { user_team: 'T0OTHER001' }],
    ['a person of a connected workspace', { source_team: 'T0OTHER001' }],
    ['an event of another kind', { type: 'reaction_added' }],
    ['an invalid channel', { channel: '../../etc' }],
    ['an invalid timestamp', { ts: 'now' }],
    ['another workspace', {}, { team_id: 'T0OTHER001' }],
    ['another app', {}, { api_app_id: 'A0OTHER001' }],
    ['an empty event', {}, { event: 'hello' }],
  ])('is not %s, which is only acknowledged', async (_, event, about = {}) => {
    expect([await talk.read(envelope(mention(event), about)), acks, slack.calls]).toEqual([
      null,
      1,
      [],
    ]);
  });

  it('may have a file, or also be shown in the channel', async () => {
    const direct = { type: 'message', channel_type: 'im', channel: 'D0ANN00001' };
    for (const subtype of ['file_share', 'thread_broadcast']) {
      const message = await talk.read(envelope(mention({ ...direct, subtype })));
      expect(message?.text).toBe('refund <7> for @bob');
    }
  });

  it('without text is answered once with a question', async () => {
    const { message } = said();
    const bare = mention({ text: `<@${self.botUserId}>  `, ts: message.ts });
    expect([await talk.read(envelope(bare)), await talk.read(envelope(bare))]).toEqual([
      null,
      null,
    ]);
    expect(answers().map(({ text, threadTs }) => [text, threadTs])).toEqual([
      [hintText, message.ts],
    ]);
  });

  it.each(['missing_scope', 'user_not_visible'])(
    'is accepted where no one can be looked up for %s',
    async (error) => {
      slack.fail({
        method: 'users.info',
        times: 9,
        fault: { kind: 'refuse', error },
      });
      expect((await talk.read(envelope(mention())))?.from).toEqual({
        id: `slack:${self.teamId}/U0ANN00001`,
        name: 'U0ANN00001',
        email: null,
      });
    },
  );

  it('is accepted when an acknowledgement is lost', async () => {
    const edit = mention({ edited: { user: 'U0ANN00001', ts: '1780000001.000000' } });
    const lost = { ...envelope(edit), ack: () => Promise.reject(new Error('gone')) };
    expect([await talk.read(lost), logged]).toEqual([null, []]);
  });

  it('never throws into its listener', async () => {
    slack.fail({
      method: 'chat.postMessage',
      times: 9,
      fault: { kind: 'refuse', error: 'not_in_channel' },
    });
    expect(await talk.read(envelope(mention({ text: '' })))).toBeNull();
    expect(logged.map(([, message]) => message)).toEqual(['slack: a message was not read']);
  });
});

describe('a post of the agent in Slack', () => {
  it("goes into the thread, in Slack's markup, and mentions no one", async () => {
    const { message, ref } = said();
    await talk.say(ref, '**Done**, <!channel> & [more](https://x.test/a)', signal);
    expect(answers().map(({ text, threadTs }) => [text, threadTs])).toEqual([
      ['\u200b*Done*\u200b, &lt;!channel&gt; &amp; <https://x.test/a|more>', message.ts],
    ]);
    const { args } = await slack.called('chat.postMessage');
    expect(args).toMatchObject({ unfurl_links: false, unfurl_media: false });
  });

  it('is a file in the thread when it is long, with its first lines next to it', async () => {
    const { message, ref } = said();
    const markdown = `# Report <!here>\n\n${'line & more\n'.repeat(1_000)}`;
    await talk.say(ref, markdown, signal);
    const [answer, ...others] = answers();
    expect({
      others,
      thread: answer?.threadTs,
      files: answer?.files.map(({ name, content }) => [name, content]),
      opening: answer?.text.slice(0, 60),
      ending: answer?.text.slice(-40),
    }).toEqual({
      others: [],
      thread: message.ts,
      files: [['answer.md', markdown]],
      opening: '*Report &lt;!here&gt;*\n\nline &amp; more\nline &amp; more\nline',
      ending: 'more\n…\n_The full answer is in the file._',
    });
  });

  it('is split into at most ten parts when no file may be uploaded', async () => {
    const { ref } = said();
    slack.fail({
      method: 'files.getUploadURLExternal',
      fault: { kind: 'refuse', error: 'missing_scope', needed: 'files:write' },
    });
    await talk.say(ref, 'word & more\n'.repeat(600), signal);
    await talk.say(ref, 'x'.repeat(60_000), signal);
    const texts = answers().map(({ text }) => text);
    expect({
      tooLong: texts.filter(({ length }) => length > 3_902),
      parts: texts.length,
      isCut: texts.at(-1)?.endsWith('\n…'),
      uploads: slack.calls.filter(({ method }) => method.startsWith('files.')).length,
      logged: logged.map(([, message]) => message),
    }).toEqual({
      tooLong: [],
      parts: 13,
      isCut: true,
      uploads: 1,
      logged: ['slack: long answers are sent in parts'],
    });
  });

  it('is split into parts when the host of files is refused, and the log names that host', async () => {
    const { ref } = said();
    const refusal = { host: 'files.slack.test', why: 'is not on the allowlist', mode: 'allowlist' };
    const guarded: typeof fetch = (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname.startsWith('/api/')) return fetch(input, init);
      return Promise.reject(
        new EgressError(refusal as ConstructorParameters<typeof EgressError>[0]),
      );
    };
    await aTalk(guarded).say(ref, 'word '.repeat(1_000), signal);
    expect({ parts: answers().map(({ text, files }) => [text.length, files]), logged }).toEqual({
      parts: [
        [3_899, []],
        [1_099, []],
      ],
      logged: [
        [
          { error: expect.stringContaining('egress blocked: files.slack.test') },
          'slack: long answers are sent in parts',
        ],
      ],
    });
  });

  it.each<[string, string]>([
    ['not_in_channel', 'target'],
    ['internal_error', 'later'],
  ])('fails for %s with a permanent or temporary error: %s', async (error, fault) => {
    const { ref } = said();
    slack.fail({ method: 'chat.postMessage', times: 9, fault: { kind: 'refuse', error } });
    const failure = await talk.say(ref, 'hi', signal).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(DeliveryError);
    expect(failure).toMatchObject({ fault });
  });

  it('reports how long Slack wants a pause', async () => {
    const { ref } = said();
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'rateLimited', retryAfter: 30 } });
    await expect(talk.say(ref, 'hi', signal)).rejects.toMatchObject({
      fault: 'later',
      retryAfter: 30_000,
    });
  });
});

describe('the mark on a message', () => {
  const marks = (ts: string) => slack.workspace.message('C0GENERAL1', ts)?.reactions;

  it('replaces the earlier one', async () => {
    const { message, ref } = said();
    const seen = [];
    for (const mark of ['working', 'waiting', 'working', 'done'] as const) {
      await talk.mark(ref, mark, signal);
      seen.push([...(marks(message.ts) ?? [])]);
    }
    expect(seen).toEqual([
      ['hourglass_flowing_sand'],
      ['raised_hand'],
      ['hourglass_flowing_sand'],
      ['white_check_mark'],
    ]);
  });

  it('replaces marks from before a restart', async () => {
    const { message, ref } = said();
    message.reactions.push('hourglass_flowing_sand');
    await talk.mark(ref, 'failed', signal);
    expect(marks(message.ts)).toEqual(['x']);
  });

  it('stays when it is there already', async () => {
    const { message, ref } = said();
    message.reactions.push('hourglass_flowing_sand');
    await talk.mark(ref, 'working', signal);
    await talk.mark(ref, 'working', signal);
    expect([marks(message.ts), slack.calls.length]).toEqual([['hourglass_flowing_sand'], 1]);
  });

  it('is skipped when the app may not set it, with one warning', async () => {
    const { ref } = said();
    const fault = { kind: 'refuse', error: 'missing_scope', needed: 'reactions:write' } as const;
    slack.fail({ method: 'reactions.add', times: 9, fault });
    await talk.mark(ref, 'working', signal);
    await talk.mark(ref, 'done', signal);
    expect(logged).toEqual([
      [
        { error: expect.stringContaining('reactions:write') },
        'slack: messages get no reaction while they are processed',
      ],
    ]);
  });

  it('fails for a temporary failure, so that it is retried', async () => {
    const { ref } = said();
    slack.fail({
      method: 'reactions.add',
      times: 9,
      fault: { kind: 'rateLimited', retryAfter: 3 },
    });
    await expect(talk.mark(ref, 'working', signal)).rejects.toMatchObject({ fault: 'later' });
  });
});

describe('a message in the thread of an approval', () => {
  it.each([
    ['waits', aNotice(), useButtonsText],
    ['is over', aNotice({}, endings.approved), 'Already approved by ann@example.com'],
  ])('starts no task while it %s, and is answered once', async (_, notice, words) => {
    const asked = { channel: 'C0REFUNDS1', ts: '1780000000.000001' };
    const at = async (ref: JsonObject) => (ref['ts'] === asked.ts ? notice : null);
    talk = aTalk(globalThis.fetch, { places: { at } });
    const said = mention({ text: 'approve', channel: asked.channel, thread_ts: asked.ts });
    expect([await talk.read(envelope(said)), await talk.read(envelope(said)), acks]).toEqual([
      null,
      null,
      2,
    ]);
    expect(slack.messages('refunds')).toMatchObject([{ text: words, threadTs: asked.ts }]);
    const elsewhere = mention({ text: 'hello', ts: '1780000000.000200', thread_ts: '1.000001' });
    expect(await talk.read(envelope(elsewhere))).toMatchObject({ text: 'hello' });
  });
});
