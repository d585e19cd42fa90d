import { describe, expect, it } from 'vitest';
import { requestLines } from '../../../src/actors/channels/console/console-lines.ts';
import { emailMessage } from '../../../src/actors/channels/email/email-message.ts';
import { callBlocks } from '../../../src/actors/channels/slack/messages/call-blocks.ts';
import { teamsMessage } from '../../../src/actors/channels/teams/teams-card.ts';
import { telegramText } from '../../../src/actors/channels/telegram/telegram-message.ts';
import { aNotice } from '../../helpers/approval-notices.ts';
import { aFirstEffect, aMeasuredLimit } from '../../helpers/limit-fixtures.ts';

const args = { amount: 900 };
const within = Array.from({ length: 12 }, (_, index) =>
  aMeasuredLimit({ name: `limit_${index}`, isOver: false }),
);
const notice = aNotice({
  ...{ args, first: aFirstEffect(), limits: [...within, aMeasuredLimit()] },
  repeats: { callId: 'call-0', at: 1_000 },
});
const { request } = notice;

const ways: [string, string][] = [
  ['the console', requestLines(request, 'http://127.0.0.1:8080', 0).join('\n')],
  ['Slack', JSON.stringify(callBlocks(request).blocks)],
  ['Telegram', telegramText(notice).text.replaceAll('\u2060', '')],
  [
    'Teams',
    JSON.stringify(teamsMessage('asked', notice, { page: 'https://a.test', mentioned: [] })),
  ],
  ['email', emailMessage('asked', notice, { page: 'https://a.test', domain: 'a.test' }).text],
];

describe.each(ways)('a message in %s', (_, text) => {
  it('has the limit that the call is over, also among many others', () => {
    expect(text).toContain(
      'Limit refunds_a_day for caller rita@example.com: 4,200 of 5,000 used in the last 24 h, 300 reserved. This call adds 900 and is over the limit.',
    );
  });

  it('has the earlier call with the same effect, and no other earlier call', () => {
    expect(text).toContain('The same effect, refund:A-2001, was requested by bob@example.com');
    expect(text).not.toContain('An equal call');
  });
});
