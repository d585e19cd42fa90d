import { describe, expect, it } from 'vitest';
import {
  type Field,
  type FieldValue,
  readFields,
  wrongFields,
} from '../../../src/machines/wizard/field.ts';
import { authOffer, channelOffer } from '../../../src/machines/wizard/offers.ts';

type Choice = { channel: string } | { auth: string };

/** The questions about each field: whether it is optional, its label, its example, and valid and invalid values. */
type Asked = [string, 'required' | 'optional', string, string, FieldValue[], FieldValue[]];

function fieldsOf(choice: Choice): readonly Field[] {
  const offer = 'channel' in choice ? channelOffer(choice.channel) : authOffer(choice.auth);
  return offer?.fields ?? [];
}

const accounts = '123456789012';
const random = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const id = 'https://id.example.com';

const asked: [string, Choice, Asked[]][] = [
  [
    'slack',
    { channel: 'slack' },
    [
      [
        ...(['bot_token', 'optional', 'Bot token', 'xoxb-…'] as const),
        ['xoxb-1', ' xoxb-a-B '],
        ['xoxb-', 'xapp-1', 'a xoxb-1', 'xoxb-a b', 'xoxb-ä'],
      ],
      [
        ...(['app_token', 'optional', 'App-level token', 'xapp-…'] as const),
        ['xapp-1', ' xapp-a-B '],
        ['xapp-', 'xoxb-1', 'a xapp-1', 'xapp-a b', 'xapp-ä'],
      ],
    ],
  ],
  [
    'telegram',
    { channel: 'telegram' },
    [
      [
        ...(['bot_token', 'optional', 'Token of the bot', '123456:ABC…'] as const),
        ['1:a', '123456:ABC-d_e'],
        ['1', ':a', '1:', 'a:b', '1:a b', '1:a:b'],
      ],
      [
        ...(['allowed_users', 'optional', 'Allowed users', '12345, @ann'] as const),
        [['12345'], ['@ann'], ['ann_1', ' 42 ', '']],
        [['0'], ['-42'], ['042'], ['@'], ['@1a'], ['a b'], ['12345', 'a-b'], 'ann'],
      ],
    ],
  ],
  [
    'webhook',
    { channel: 'webhook' },
    [
      [
        ...(['target', 'required', 'Name of the receiver', 'ops'] as const),
        ['ops', 'ops-2-eu', '7'],
        ['Ops', '-ops', 'ops-', 'o--s', 'o_s', 'o s'],
      ],
      [
        ...(['url', 'required', 'Address that is posted to'] as const),
        'https://ops.example.com/approvals',
        ['https://ops.example.com/x', 'http://127.0.0.1:9/x'],
        ['http://ops.example.com/x', 'ops.example.com', 'https://ops.example.com/?x'],
      ],
      [
        ...(['secret', 'optional', 'Secret of the signature'] as const),
        'output of openssl rand -base64 32',
        [random, `whsec_${random}`, 'x'.repeat(16), 'whsec'.repeat(4), `whsec_${random}AA==`],
        ['x'.repeat(15), `whsec_${'A'.repeat(20)}`, `whsec_${random}A`, `${random} x`],
      ],
    ],
  ],
  [
    'oidc',
    { auth: 'oidc' },
    [
      ['issuer', 'required', 'Issuer', id, [id], ['id', 'http://id.example.com']],
      ['audience', 'required', 'Audience', 'refunds', [['a'], ['a', 'b c']], ['a', ['\0']]],
      ['client_id', 'optional', 'Client id', 'refunds-desk', ['a b'], [['a'], 'a\nb']],
      ['jwks_url', 'optional', 'Address of the keys', `${id}/keys`, [`${id}/k`], ['k']],
      [
        ...(['claim_map', 'optional', 'Claims', 'upn'] as const),
        [{ user_id: 'oid', email: '' }],
        [{ user_id: '\0' }, 'upn'],
      ],
    ],
  ],
  [
    'http_verifier',
    { auth: 'http_verifier' },
    [
      [
        ...(['url', 'required', 'Address of the verifier'] as const),
        'https://verify.example.com/token',
        ['https://v.example.com', 'http://localhost:9'],
        ['v.example.com', 'http://v.example.com'],
      ],
      [
        ...(['default_org', 'optional', 'Default organisation', 'acme'] as const),
        ['acme inc'],
        ['a\nb'],
      ],
    ],
  ],
  [
    'cloud_sigv4',
    { auth: 'cloud_sigv4' },
    [
      [
        ...(['region', 'required', 'Region', 'eu-central-1'] as const),
        ['eu-central-1', 'us-gov-west-1', 'ap-southeast-12'],
        ['eu', 'eu-1', 'e-central-1', 'eu-central', 'EU-central-1', 'eu-central-123'],
      ],
      ['audience', 'optional', 'Audience', 'urn:refunds', ['urn:x'], ['a b', 'ä', ['a']]],
      [
        ...(['allowed_accounts', 'required', 'Accounts that may sign in', accounts] as const),
        [[accounts], [accounts, '210987654321']],
        [['12345678901'], ['1234567890123'], [accounts, 'a'], accounts],
      ],
    ],
  ],
  [
    'cloud_iap',
    { auth: 'cloud_iap' },
    [
      [
        ...(['audience', 'required', 'Id of the backend service'] as const),
        '/projects/123456789012/apps/refunds',
        [['/projects/1/apps/a', 'b']],
        ['/projects/1/apps/a'],
      ],
    ],
  ],
  [
    'directory_ad',
    { auth: 'directory_ad' },
    [
      [
        ...(['tenant_id', 'required', 'Id of the tenant'] as const),
        '11111111-2222-3333-4444-555555555555',
        ['11111111-2222-3333-4444-555555555555', 'Contoso'],
        ['contoso.com', 'a/b', '..'],
      ],
      ['audience', 'required', 'Audience', 'api://refunds', [['api://x']], ['api://x']],
    ],
  ],
];

describe.each(asked)('the fields of %s', (_, choice, rows) => {
  const fields = fieldsOf(choice);

  it('are in this order, and optional ones can be omitted', () => {
    const left = fields.map((field) => [
      field.name,
      wrongFields([field], {}) === null ? 'optional' : 'required',
    ]);
    expect(left).toEqual(rows.map(([name, need]) => [name, need]));
  });

  it.each(rows)('accept for %s valid values', (name, need, label, example, right, wrong) => {
    const field = fields.filter((one) => one.name === name);
    const such = `write one such as ${example}`;
    const complaints = right.map((value) => wrongFields(field, { [name]: value }));
    expect(complaints).toEqual(right.map(() => null));
    expect(wrongFields(field, {})).toBe(
      need === 'optional' ? null : `${label} is missing; ${such}`,
    );
    expect(wrong.map((value) => wrongFields(field, { [name]: value }))).toEqual(
      wrong.map(() => `${label} is not right; ${such}`),
    );
  });
});

it('tokens and secrets are typed hidden, and each is stored under a name', () => {
  const fields = ['slack', 'telegram', 'webhook'].flatMap((channel) => fieldsOf({ channel }));
  const secrets = fields.filter(({ kind }) => kind === 'secret');
  expect(secrets.map(({ variable }) => variable)).toEqual([
    ...['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'TELEGRAM_BOT_TOKEN', 'WEBHOOK_SECRET'],
  ]);
  expect(fields.filter(({ variable }) => variable !== undefined)).toEqual(secrets);
});

it('strings are typed on one line, addresses as addresses, and lists with one entry a line', () => {
  const kinds = asked.map(([name, choice]) => [name, fieldsOf(choice).map(({ kind }) => kind)]);
  expect(Object.fromEntries(kinds)).toEqual({
    slack: ['secret', 'secret'],
    telegram: ['secret', 'list'],
    webhook: ['text', 'url', 'secret'],
    oidc: ['url', 'list', 'text', 'url', 'map'],
    http_verifier: ['url', 'text'],
    cloud_sigv4: ['text', 'text', 'list'],
    cloud_iap: ['list'],
    directory_ad: ['text', 'list'],
  });
});

it('the claims of a caller are accepted', () => {
  const claims = { user_id: 'a', email: 'b', org_id: 'c', workspace_id: 'd', acr: 'e' };
  const sent = { claim_map: { ...claims, groups: 'f' } };
  expect(readFields(fieldsOf({ auth: 'oidc' }), sent)).toEqual({ claim_map: claims });
});

it.each(['none', 'custom'])('no further field is asked for a sign-in by %s', (auth) => {
  expect(fieldsOf({ auth })).toEqual([]);
});
