import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { DeliveryError } from '../../../../../src/actors/channels/channel-adapter.ts';
import { SlackSetupError } from '../../../../../src/actors/channels/slack/link/setup-error.ts';
import {
  deliveryError,
  linkFault,
  slackCode,
} from '../../../../../src/actors/channels/slack/link/slack-failure.ts';
import { EgressError, EgressLimitError } from '../../../../../src/actors/outbound/egress/egress.ts';

const refused = (error: string, more: object = {}) =>
  new WebAPIPlatformError({ ok: false, error, ...more });
const network = (code: string) =>
  new WebAPIRequestError(
    new TypeError('fetch failed to https://slack.com/?token=xoxb-1', {
      cause: Object.assign(new Error('to 10.0.0.1:443'), { code }),
    }),
  );
const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
const blocked = new EgressError({
  host: 'slack.com',
  why: 'is not on the allowlist',
  mode: 'allowlist',
});

const closed = new EgressError({
  host: 'slack.corp.test',
  why: 'resolves to a private address',
  mode: 'allowlist',
});

const rows: [
  string,
  unknown,
  'later' | 'target' | 'gone' | 'message',
  number | null,
  boolean,
  string,
][] = [
  [
    'a bot that is not in the channel',
    refused('not_in_channel'),
    'target',
    null,
    false,
    'invite the bot into the channel with /invite and its name (not_in_channel)',
  ],
  [
    'a channel that is gone',
    refused('channel_not_found'),
    'target',
    null,
    false,
    'name a channel that exists, and invite the bot if it is private (channel_not_found)',
  ],
  [
    'a revoked token',
    refused('token_revoked'),
    'target',
    null,
    true,
    'put a token of an installed Slack app into the environment (token_revoked)',
  ],
  [
    'a missing scope',
    refused('missing_scope', { needed: 'chat:write' }),
    'target',
    null,
    true,
    'give the Slack app the scope chat:write and install it again (missing_scope)',
  ],
  [
    'a missing scope that is not named as scopes are',
    refused('missing_scope', { needed: '<!channel>' }),
    'target',
    null,
    true,
    'give the Slack app the scope that it lacks and install it again (missing_scope)',
  ],
  [
    'a message that is gone',
    refused('message_not_found'),
    'gone',
    null,
    false,
    'the message is gone (message_not_found)',
  ],
  [
    'blocks in a wrong form',
    refused('invalid_blocks'),
    'message',
    null,
    false,
    'Slack does not take the message in this form (invalid_blocks)',
  ],
  [
    'a code that nobody knows',
    refused('something_new'),
    'later',
    null,
    false,
    'Slack refused it (something_new)',
  ],
  [
    'a page in the place of an answer',
    refused('<!doctype html><title>xoxb-1</title>'),
    'later',
    null,
    false,
    'the response is not from Slack',
  ],
  [
    'a rate limit',
    new WebAPIRateLimitedError(12),
    'later',
    12_000,
    false,
    'Slack rate limit reached',
  ],
  [
    'a rate limit of years',
    new WebAPIRateLimitedError(1e9),
    'later',
    3_600_000,
    false,
    'Slack rate limit reached',
  ],
  [
    'a rate limit within an answer',
    refused('ratelimited', { response_metadata: { retryAfter: 3 } }),
    'later',
    3_000,
    false,
    'Slack rate limit reached',
  ],
  [
    'a broken server',
    new WebAPIHTTPError(502, 'Bad Gateway', {}, 'xoxb-1'),
    'later',
    null,
    false,
    'Slack answered 502',
  ],
  [
    'a wrong address',
    new WebAPIHTTPError(404, 'Not Found', {}, 'xoxb-1'),
    'target',
    null,
    true,
    'Slack answered 404; look at api_url',
  ],
  ['a reset', network('ECONNRESET'), 'later', null, false, 'the connection broke (ECONNRESET)'],
  ['an odd code', network('to 10.0.0.1'), 'later', null, false, 'the connection broke'],
  [
    'no answer in time',
    new WebAPIRequestError(timeout),
    'later',
    null,
    false,
    'Slack did not answer in time',
  ],
  [
    'a refusal of the egress policy',
    new WebAPIRequestError(blocked),
    'target',
    null,
    true,
    'egress blocked: slack.com is not on the allowlist (mode=allowlist); list the host under egress.allowed_domains',
  ],
  [
    'an address that the egress policy keeps closed',
    new WebAPIRequestError(closed),
    'target',
    null,
    true,
    'egress blocked: slack.corp.test resolves to a private address (mode=allowlist); look at api_url, or list its network under egress.allowed_private_cidrs',
  ],
  [
    'a limit of the egress policy',
    new WebAPIRequestError(new EgressLimitError('slack.com', 'sent nothing for 10 ms')),
    'later',
    null,
    false,
    'egress stopped: slack.com sent nothing for 10 ms',
  ],
  [
    'something to set up',
    new SlackSetupError('Socket Mode is off; switch it on'),
    'target',
    null,
    true,
    'Socket Mode is off; switch it on',
  ],
  ['something that is no error', 'xoxb-1', 'later', null, false, 'the connection broke'],
];

describe('a failure of Slack', () => {
  it.each(rows)('reads %s', (_, error, fault, retryAfter, lasting, words) => {
    const { message, ...told } = deliveryError(error, 'posting to C0123456789');
    expect({ message, told: { ...told }, link: linkFault(error) }).toEqual({
      message: `slack: posting to C0123456789 failed: ${words}`,
      told: { code: 'delivery_failed', fault, retryAfter },
      link: { message: words, lasting, retryAfter },
    });
  });

  it('keeps a delivery error unchanged', () => {
    const error = new DeliveryError('slack: no channel', { fault: 'target' });
    expect(deliveryError(error, 'posting')).toBe(error);
  });

  it('contains the code of a refusal only', () => {
    expect(
      [refused('no_reaction'), refused('<html>'), network('ECONNRESET'), null].map(slackCode),
    ).toEqual(['no_reaction', null, null, null]);
  });
});
