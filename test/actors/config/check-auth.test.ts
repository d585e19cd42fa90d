import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

function authenticating(providers: string, env: Record<string, string> = {}): string[] {
  return linesOf(read(`agent_id: x\nauth:\n  providers: [${providers}]\n`, env));
}

const inline =
  'auth.providers.0.settings.token | anyone who can read this file can sign in; put the token into a variable and set token_env to its name';

it.each([
  [
    'neither token nor token_env',
    '{type: static_token}',
    'error 3:15 auth.providers.0.settings.token_env | a static token needs settings.token_env or settings.token; add one',
  ],
  [
    'empty settings',
    '{type: static_token, settings: {}}',
    'error 3:46 auth.providers.0.settings.token_env | a static token needs settings.token_env or settings.token; add one',
  ],
  [
    'an empty token',
    '{type: static_token, settings: {token: ""}}',
    'error 3:54 auth.providers.0.settings.token | settings.token is empty; write one, or use settings.token_env',
  ],
  [
    'both',
    '{type: static_token, settings: {token: a, token_env: SET}}',
    'error 3:54 auth.providers.0.settings.token | settings.token and settings.token_env are both set; keep one',
    `warning 3:54 ${inline}`,
  ],
  [
    'a variable that is not set',
    '{type: static_token, settings: {token_env: UNSET}}',
    'error 3:58 auth.providers.0.settings.token_env | the environment variable UNSET is not set; it must hold the token',
  ],
  [
    'a variable that is empty',
    '{type: static_token, settings: {token_env: EMPTY}}',
    'error 3:58 auth.providers.0.settings.token_env | the environment variable EMPTY is not set; it must hold the token',
  ],
  [
    'a duplicate name',
    '{type: static_token, name: a, settings: {token_env: SET}}, {type: static_token, name: a, settings: {token_env: SET}}',
    'error 3:101 auth.providers.1.name | an earlier provider has this name; use a unique name for each provider',
  ],
  [
    "the name of the daemon's own token",
    '{type: static_token, name: runtime, settings: {token_env: SET}}',
    "error 3:42 auth.providers.0.name | this is the name of the daemon's own token; choose another",
  ],
  [
    'the name of people in chats',
    '{type: static_token, name: chat, settings: {token_env: SET}}',
    "error 3:42 auth.providers.0.name | this is the name of the daemon's own token; choose another",
  ],
  [
    'an issuer without an audience',
    '{type: oidc, settings: {issuer: "https://a.io"}}',
    'error 3:38 auth.providers.0.settings.audience | without an audience tokens for other services would pass; add audience or client_id',
  ],
  [
    'the issuer of another provider',
    '{type: oidc, name: a, settings: {issuer: "https://a.io", audience: x}}, {type: oidc, settings: {issuer: "https://a.io", audience: y}}',
    'error 3:119 auth.providers.1.settings.issuer | an earlier provider has this issuer and would decide; list every audience there',
  ],
  [
    'two providers without a name',
    '{type: static_token, settings: {token_env: SET}}, {type: static_token, settings: {token_env: SET}}',
    'error 3:65 auth.providers.1.name | an earlier provider has this name; use a unique name for each provider',
  ],
])('an auth section is refused for %s', (_, providers, ...lines) => {
  expect(authenticating(providers, { SET: 's3cret', EMPTY: '' })).toEqual(lines);
});

it('an auth section has a warning for a token in the file', () => {
  const providers =
    '{type: static_token, settings: {token: s3cret}}, {type: static_token, name: b, settings: {token: "${SET}"}}';
  expect(authenticating(providers, { SET: 's3cret' })).toEqual([`warning 3:54 ${inline}`]);
});

it('an auth section may take a token from the environment or the file', () => {
  const providers =
    '{type: static_token, settings: {token_env: SET}}, {type: static_token, name: b, settings: {token: "${SET}"}}';
  expect(authenticating(providers, { SET: 's3cret' })).toEqual([]);
});

const oneProvider = (settings: string) =>
  authenticating(`{type: oidc, settings: {audience: x, ${settings}}}`).map((line) =>
    line.slice(line.indexOf('auth.')),
  );
const at = (key: string, message: string) => `auth.providers.0.settings.${key} | ${message}`;
const named = (key: string, message: string) =>
  at(key, `auth.providers.0.settings.${key}: ${message}`);
const untrustworthy =
  'this must be an https URL, or http on a loopback host, without credentials, ? and #';

it.each([
  ['client_id: y', named('issuer', 'this key is missing; add it')],
  ['issuer: a.io', named('issuer', untrustworthy)],
  ['issuer: "http://a.io"', named('issuer', untrustworthy)],
  ['issuer: "http://127.0.0.1.a.io"', named('issuer', untrustworthy)],
  ['issuer: "http://localhost@a.io"', named('issuer', untrustworthy)],
  ['issuer: "https://user:pass@a.io"', named('issuer', untrustworthy)],
  ['issuer: "https://a.io?x"', named('issuer', untrustworthy)],
  ['issuer: "https://a.io#x"', named('issuer', untrustworthy)],
  ['issuer: "file:///keys"', named('issuer', untrustworthy)],
  ['issuer: "https://a.io", jwks_url: "http://a.io/keys"', named('jwks_url', untrustworthy)],
  [
    'issuer: "https://a.io", clock_skew: 301s',
    named('clock_skew', 'the clocks may differ by at most 5m; set the clock right instead'),
  ],
  [
    'issuer: "https://a.io", jwks_cache_ttl: 0s',
    named('jwks_cache_ttl', 'the duration must be above zero; write 90s, 5m or 1h30m'),
  ],
  [
    'issuer: "https://a.io", claim_map: {groups: roles}',
    named('claim_map.groups', 'unknown key; remove it'),
  ],
  [
    'issuer: "https://a.io", claim_map: {acr: ""}',
    named('claim_map.acr', 'this must not be empty; write a name'),
  ],
  [
    'issuer: "https://a.io", audiences: [y]',
    named('audiences', 'unknown key; did you mean audience?'),
  ],
])('an auth section is refused for an issuer with %s', (settings, line) => {
  expect(oneProvider(settings)).toEqual([line]);
});

it.each(['""', '[]', '[""]', '[1]', '1'])(
  'an auth section is refused for the audience %s',
  (audience) => {
    const lines = authenticating(
      `{type: oidc, settings: {issuer: "https://a.io", audience: ${audience}}}`,
    );
    expect(lines).toEqual([expect.stringContaining('auth.providers.0.settings.audience')]);
  },
);

it.each([
  ['oidc', 'issuer: "https://a.io"', 'issuer'],
  ['oidc', 'claim_map: {email: mail}', 'claim_map'],
  ['static_token', 'token_env: T', 'token_env'],
  ['cloud_sigv4', 'region: eu-central-1', 'region'],
  ['http_verifier', 'url: "https://a.io"', 'url'],
])('a setting next to the type %s is reported with its right place: %s', (type, setting, key) => {
  const text = `agent_id: x\nauth:\n  providers:\n    - type: ${type}\n      ${setting}\n`;
  expect(linesOf(read(text))).toContain(
    `error 5:7 auth.providers.0.${key} | auth.providers.0.${key}: unknown key; it belongs under settings: write settings.${key}`,
  );
});

it('an unknown key is reported with a similar known one', () => {
  const text = 'agent_id: x\nauth: {providers: [{type: oidc, issuers: y, nam: z}]}\n';
  expect(linesOf(read(text)).filter((line) => line.includes('unknown key'))).toEqual([
    expect.stringContaining('auth.providers.0.issuers: unknown key; remove it'),
    expect.stringContaining('auth.providers.0.nam: unknown key; did you mean name?'),
  ]);
});

it('a claim that is no email under bind_approver causes a warning', () => {
  const lines = (more: string, bind = true) =>
    linesOf(
      read(
        `agent_id: x\nsecurity: {defer: {bind_approver: ${bind}}}\nauth: {providers: [{type: oidc, settings: {issuer: "https://a.io", audience: a, claim_map: {email: upn}${more}}}]}\n`,
      ),
    ).filter((line) => line.includes('claim_map'));
  const warned = [
    'warning 3:100 auth.providers.0.settings.claim_map.email | under bind_approver this claim is not used as an email, since email_verified covers email only; if users cannot edit it, set require_email_verified: false',
  ];
  expect(lines('')).toEqual(warned);
  expect(lines(', require_email_verified: true')).toEqual(warned);
  expect(lines(', require_email_verified: false')).toEqual([]);
  expect(lines('', false)).toEqual([]);
});

it('the omitted settings of an issuer get their defaults', () => {
  const text = `agent_id: x
auth:
  providers:
    - {type: oidc, settings: {issuer: "http://[::1]:9/realm", client_id: desk}}
    - type: oidc
      name: other
      settings:
        issuer: https://a.io/
        audience: [a, b]
        jwks_url: http://localhost:1/keys
        jwks_cache_ttl: 10m
        clock_skew: 0s
        max_token_lifetime: 10m
        require_email_verified: true
        claim_map: {user_id: uid}
`;
  const reading = read(text);
  const claims = { email: 'email', org_id: 'org_id', workspace_id: 'workspace_id', acr: 'acr' };
  expect(reading.ok && reading.config.auth.providers).toEqual([
    {
      type: 'oidc',
      name: 'oidc',
      settings: {
        issuer: 'http://[::1]:9/realm',
        client_id: 'desk',
        jwks_cache_ttl: 3_600_000,
        clock_skew: 30_000,
        max_token_lifetime: 90_000_000,
        claim_map: { user_id: 'sub', ...claims },
      },
    },
    {
      type: 'oidc',
      name: 'other',
      settings: {
        issuer: 'https://a.io/',
        audience: ['a', 'b'],
        jwks_url: 'http://localhost:1/keys',
        jwks_cache_ttl: 600_000,
        clock_skew: 0,
        max_token_lifetime: 600_000,
        require_email_verified: true,
        claim_map: { user_id: 'uid', ...claims },
      },
    },
  ]);
});
