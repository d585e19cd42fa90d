import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { buttons, openSlack, refusalOf, webClient } from '../open-slack.ts';

const refunds = 'C0REFUNDS1';

describe('the Web API of the fake Slack', () => {
  it('posts, changes and marks a message', async () => {
    const { slack, web } = await openSlack();
    const posted = await web.chat.postMessage({
      channel: refunds,
      text: 'Approve?',
      blocks: buttons,
    });
    const ts = posted.ts ?? '';
    await web.reactions.add({ channel: refunds, timestamp: ts, name: 'eyes' });
    await web.chat.update({ channel: refunds, ts, text: 'Approved', blocks: [] });
    expect(slack.messages('#refunds')).toEqual([
      {
        channel: refunds,
        ts,
        threadTs: null,
        user: 'U0HOLDPNT1',
        text: 'Approved',
        blocks: [],
        metadata: null,
        edits: 1,
        reactions: ['eyes'],
        files: [],
        onlyFor: null,
      },
    ]);
    expect(slack.calls.map(({ method }) => method)).toEqual([
      'chat.postMessage',
      'reactions.add',
      'chat.update',
    ]);
    expect(slack.calls[0]?.args).toEqual({ channel: refunds, text: 'Approve?', blocks: buttons });
  });

  it('gives messages of one moment different and increasing times', async () => {
    const { slack, web } = await openSlack({ clock: new ManualClock(1_700_000_000_000) });
    for (const text of ['one', 'two']) await web.chat.postMessage({ channel: refunds, text });
    const times = slack.messages('refunds').map(({ ts }) => ts);
    expect(times).toEqual(['1700000000.000000', '1700000000.000001']);
  });

  it('posts a message that only one person can see', async () => {
    const { slack, web } = await openSlack();
    await web.chat.postEphemeral({ channel: refunds, user: 'U0BOB00001', text: 'not you' });
    expect(slack.messages('refunds')).toEqual([]);
    expect(slack.ephemerals('refunds').map(({ onlyFor, text }) => [onlyFor, text])).toEqual([
      ['U0BOB00001', 'not you'],
    ]);
  });

  it("returns the app's identity and the scopes of the token", async () => {
    const { web } = await openSlack({ scopes: ['chat:write', 'users:read'] });
    const { team_id, user_id, bot_id, response_metadata } = await web.auth.test();
    expect({ team_id, user_id, bot_id, scopes: response_metadata?.scopes }).toEqual({
      team_id: 'T0HOLDPNT1',
      user_id: 'U0HOLDPNT1',
      bot_id: 'B0HOLDPNT1',
      scopes: ['chat:write', 'users:read'],
    });
  });

  it("lists channels page by page, without those outside the bot's view", async () => {
    const { web } = await openSlack();
    const options = { types: 'public_channel,private_channel', limit: 2, exclude_archived: true };
    const pages: string[][] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await web.conversations.list(cursor ? { ...options, cursor } : options);
      pages.push(page.channels?.map(({ name }) => name ?? '') ?? []);
      cursor = page.response_metadata?.next_cursor;
      if (cursor === '') break;
    }
    expect(pages).toEqual([
      ['refunds', 'general'],
      ['finance', 'outside'],
    ]);
  });

  it('returns an email only with its scope, and none of a guest', async () => {
    const { web } = await openSlack();
    const { web: blind } = await openSlack({ scopes: ['users:read'] });
    const emailOf = async (user: string, client = web) =>
      (await client.users.info({ user })).user?.profile?.email;
    expect(await emailOf('U0ANN00001')).toBe('ann@example.com');
    expect(await emailOf('U0GUEST001')).toBeUndefined();
    expect(await emailOf('U0ANN00001', blind)).toBeUndefined();
    expect((await web.users.lookupByEmail({ email: 'Bob@Example.com' })).user?.id).toBe(
      'U0BOB00001',
    );
    expect(await refusalOf(web.users.lookupByEmail({ email: 'gone@example.com' }))).toBe(
      'users_not_found',
    );
    expect(await refusalOf(blind.users.lookupByEmail({ email: 'ann@example.com' }))).toBe(
      'missing_scope',
    );
  });

  it('accepts a file in three steps, and shows it in a thread', async () => {
    const { slack, web } = await openSlack();
    const { ts = '' } = await web.chat.postMessage({ channel: refunds, text: 'see below' });
    await web.filesUploadV2({
      channel_id: refunds,
      thread_ts: ts,
      filename: 'answer.md',
      content: '# Long',
    });
    expect(slack.messages('refunds')[1]).toMatchObject({
      threadTs: ts,
      files: [{ name: 'answer.md', content: '# Long' }],
    });
  });

  it.each([
    ['channel_not_found', { channel: 'C0NOWHERE1' }],
    ['channel_not_found', { channel: '#refunds' }],
    ['not_in_channel', { channel: 'C0OUTSIDE1' }],
    ['is_archived', { channel: 'C0OLD00001' }],
    ['no_text', { channel: refunds, text: '' }],
    ['msg_too_long', { channel: refunds, text: 'x'.repeat(40_001) }],
  ])('refuses a message with %s', async (error, { channel, text = 'hello' }: any) => {
    const { slack, web } = await openSlack();
    expect(await refusalOf(web.chat.postMessage({ channel, text }))).toBe(error);
    expect(slack.workspace.messages).toEqual([]);
  });

  const long = (length: number) => ({ type: 'plain_text', text: 'x'.repeat(length) });
  const button = (changes: object) => [
    { type: 'actions', elements: [{ type: 'button', text: long(3), ...changes }] },
  ];
  it.each([
    ['a header of 151 characters', [{ type: 'header', text: long(151) }]],
    ['a section of 3001 characters', [{ type: 'section', text: long(3_001) }]],
    ['an empty section', [{ type: 'section', text: long(0) }]],
    ['a button with 76 characters', button({ text: long(76) })],
    ['a value of 2001 characters', button({ value: 'x'.repeat(2_001) })],
    ['an action_id of 256 characters', button({ action_id: 'x'.repeat(256) })],
    ['a block_id of 256 characters', [{ type: 'divider', block_id: 'x'.repeat(256) }]],
    ['two blocks with one id', [1, 2].map(() => ({ type: 'divider', block_id: 'same' }))],
    ['51 blocks', Array.from({ length: 51 }, () => ({ type: 'divider' }))],
    ['a block without a type', [{ type: 'banner' }]],
  ])('refuses %s', async (_, blocks) => {
    const { web } = await openSlack();
    const call = web.chat.postMessage({ channel: refunds, text: 'x', blocks: blocks as any });
    expect(await refusalOf(call)).toBe('invalid_blocks');
  });

  it('restricts each token to its purpose', async () => {
    const { slack, web } = await openSlack();
    expect(await refusalOf(webClient(slack, 'xoxb-other').auth.test())).toBe('invalid_auth');
    expect(await refusalOf(webClient(slack, '').auth.test())).toBe('not_authed');
    expect(await refusalOf(web.apps.connections.open({}))).toBe('not_allowed_token_type');
    expect(await refusalOf(web.apiCall('chat.shout'))).toBe('unknown_method');
    expect(JSON.stringify(slack.calls)).not.toContain('xox');
  });
});
