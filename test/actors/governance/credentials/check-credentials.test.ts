import { describe, expect, it } from 'vitest';
import {
  type CredentialEntry,
  checkCredentials,
} from '../../../../src/actors/governance/credentials/credentials.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const env = {
  SHOP_KEY: 'canary-shop-key',
  SHORT: 'abcde',
  SIX: 'abcdef',
  EMPTY: '',
  AWS_ACCESS_KEY_ID: 'AKIABASEKEY',
  AWS_SECRET_ACCESS_KEY: 'canary-base-secret',
};

const roleArn = 'arn:aws:iam::123456789012:role/refunds';

function linesOf(entries: CredentialEntry[], variables: Record<string, string> = env): string[] {
  return checkCredentials(entries, variables).map(
    ({ severity, path, message }) => `${severity} ${path.join('.')} | ${message}`,
  );
}

function checked(
  provider: CredentialEntry['provider'],
  spec: JsonObject,
  variables: Record<string, string> = env,
) {
  return linesOf([{ tool: 'refund', provider, spec }], variables);
}

describe('a static credential', () => {
  it.each([
    [
      'its long form',
      { env: { API_KEY: { from_env: 'SHOP_KEY' }, OTHER: { from_env: 'SHOP_KEY' } } },
    ],
    ['its short form', { name: 'API_KEY', from_env: 'SHOP_KEY' }],
    ['secrets', { env: { API_KEY: { secret: 'SHOP_KEY' } } }],
    ['a secret in its short form', { name: 'API_KEY', secret: 'SHOP_KEY' }],
    ['a value of six characters', { name: 'API_KEY', from_env: 'SIX' }],
  ])('accepts %s', (_, spec) => {
    expect(checked('static', spec)).toEqual([]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['an empty spec', {}, ['error 0.spec.env | this key is missing; add it']],
    [
      'no variable',
      { env: {} },
      ['error 0.spec.env | this names no variable; add <NAME>: {secret: <NAME>}'],
    ],
    ['a list', { env: [] }, ['error 0.spec.env | this must be a map of keys and values']],
    [
      'a hard-coded value',
      { env: { A: 'canary' } },
      ['error 0.spec.env.A | this must be a map of keys and values'],
    ],
    [
      'a number',
      { env: { A: { from_env: 7 } } },
      ['error 0.spec.env.A.from_env | this must be text; put it in quotes'],
    ],
    [
      'a value in place of a variable',
      { env: { A: { from_env: '${SHOP_KEY}' } } },
      [
        'error 0.spec.env.A.from_env | this must be the bare name of an environment variable, without ${}',
      ],
    ],
    [
      'no source',
      { env: { A: {} } },
      ['error 0.spec.env.A | a source is missing; add secret: <NAME> or from_env: <VARIABLE>'],
    ],
    [
      'an unset secret',
      { env: { A: { secret: 'SHOP' } } },
      [
        'error 0.spec.env.A.secret | there is no secret SHOP: set it with holdpoint secret set SHOP; it must hold the value of A',
      ],
    ],
    [
      'the secret itself in place of its name',
      { env: { A: { secret: 'canary-shop-key' } } },
      ['error 0.spec.env.A.secret | this must be the name of a secret, never the secret itself'],
    ],
    [
      'two sources',
      { env: { A: { secret: 'SHOP_KEY', from_env: 'SHOP_KEY' } } },
      ['error 0.spec.env.A.secret | there are two sources; keep secret or from_env'],
    ],
    [
      'a secret in the short form',
      { name: 'A', secret: 'SHOP' },
      [
        'error 0.spec.secret | there is no secret SHOP: set it with holdpoint secret set SHOP; it must hold the value of A',
      ],
    ],
    [
      'a short form without a source',
      { name: 'A' },
      ['error 0.spec | a source is missing; add secret: <NAME> or from_env: <VARIABLE>'],
    ],
    [
      'unknown keys',
      { envs: {}, env: { A: { from_evn: 'SHOP_KEY', colour: 1 } } },
      [
        'error 0.spec.env.A.from_evn | unknown key; did you mean from_env?',
        'error 0.spec.env.A.colour | unknown key; remove it',
        'error 0.spec.envs | unknown key; did you mean env?',
      ],
    ],
    [
      'both forms',
      { name: 'A', from_env: 'SHOP_KEY', env: {} },
      ['error 0.spec.env | unknown key; remove it'],
    ],
    [
      'unset variables',
      {
        env: { A: { from_env: 'UNSET' }, B: { from_env: 'EMPTY' }, C: { from_env: 'constructor' } },
      },
      [
        'error 0.spec.env.A.from_env | the environment variable UNSET is not set; it must hold the value of A',
        'error 0.spec.env.B.from_env | the environment variable EMPTY is not set; it must hold the value of B',
        'error 0.spec.env.C.from_env | the environment variable constructor is not set; it must hold the value of C',
      ],
    ],
    [
      'names that control a script',
      { env: { LD_PRELOAD: { from_env: 'SHOP_KEY' }, service_task_id: { from_env: 'SHOP_KEY' } } },
      [
        'error 0.spec.env.LD_PRELOAD | LD_PRELOAD affects how scripts run and is not passed on; use another name',
        'error 0.spec.env.service_task_id | service_task_id affects how scripts run and is not passed on; use another name',
      ],
    ],
    [
      'a name that controls a script and an unset variable',
      { env: { PATH: { from_env: 'UNSET' } } },
      [
        'error 0.spec.env.PATH | PATH affects how scripts run and is not passed on; use another name',
        'error 0.spec.env.PATH.from_env | the environment variable UNSET is not set; it must hold the value of PATH',
      ],
    ],
    [
      'a reserved name in the short form',
      { name: 'PATH', from_env: 'SHOP_KEY' },
      ['error 0.spec.name | PATH affects how scripts run and is not passed on; use another name'],
    ],
    [
      'an invalid name',
      { env: { 'A=B': { from_env: 'SHOP_KEY' } } },
      ['error 0.spec.env.A=B | "A=B" is not a variable name; use letters, digits and underscores'],
    ],
  ])('refuses %s', (_, spec, lines) => {
    expect(checked('static', spec)).toEqual(lines);
  });

  it('warns of a value too short to be redacted, without showing it', () => {
    expect(checked('static', { env: { A: { from_env: 'SHORT' } } })).toEqual([
      'warning 0.spec.env.A.from_env | the value of SHORT is shorter than 6 characters and is not redacted from results; use a longer one',
    ]);
  });
});

describe('an assumed role', () => {
  it.each<JsonObject>([
    { role_arn: roleArn },
    { role_arn: 'arn:aws-us-gov:iam::123456789012:role/path/to/refunds', region: 'us-gov-west-1' },
    { role_arn: roleArn, duration: '12h', session_name: 'a.b', external_id: 'x:/y', policy: {} },
    { role_arn: roleArn, endpoint: 'https://sts.example.com/prefix' },
    { role_arn: roleArn, endpoint: 'http://localhost:4566' },
    { role_arn: roleArn, endpoint: 'http://[::1]:4566/' },
    { role_arn: roleArn, duration: '15m', policy: { Sid: 'x'.repeat(2038) } },
  ])('accepts %j', (spec) => {
    expect(checked('sts_assume_role', spec)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [
      { role_arn: 'refunds' },
      'role_arn | this must be the ARN of a role, such as arn:aws:iam::123456789012:role/refunds',
    ],
    [
      { role_arn: `${roleArn}\n` },
      'role_arn | this must be the ARN of a role, such as arn:aws:iam::123456789012:role/refunds',
    ],
    [{ duration: '14m59s' }, 'duration | this must be a duration from 15m to 12h'],
    [{ duration: '12h1s' }, 'duration | this must be a duration from 15m to 12h'],
    [{ duration: 'soon' }, 'duration | this must be a duration from 15m to 12h'],
    [{ duration: 900 }, 'duration | this must be text; put it in quotes'],
    [
      { session_name: 'a' },
      'session_name | a session name is 2 to 64 letters, digits and the characters _+=,.@-',
    ],
    [
      { external_id: 'ä' },
      'external_id | an external id is 2 to 1224 letters, digits and the characters _+=,.@:/-',
    ],
    [{ policy: '{}' }, 'policy | this must be a map of keys and values'],
    [
      { policy: { Sid: 'x'.repeat(2039) } },
      'policy | as JSON the policy must be at most 2048 characters; shorten it',
    ],
    [
      { region: 'evil.example/' },
      'region | this must be the name of a region, such as eu-central-1',
    ],
    [
      { secret_key_env: 'UNSET' },
      'secret_key_env | the environment variable UNSET is not set; it must belong to the identity that assumes the role',
    ],
    [
      { session_token_env: 'EMPTY' },
      'session_token_env | the environment variable EMPTY is not set; it must belong to the identity that assumes the role',
    ],
    [{ role_arm: roleArn }, 'role_arm | unknown key; did you mean role_arn?'],
  ])('refuses %j', (spec, line) => {
    expect(checked('sts_assume_role', { role_arn: roleArn, ...spec })).toEqual([
      `error 0.spec.${line}`,
    ]);
  });

  it.each([
    'http://sts.example.com',
    'http://127.0.0.1.example.com',
    'http://169.254.169.254/',
    'https://user:canary@sts.example.com',
    'https://user@sts.example.com',
    'https://:canary@sts.example.com',
    'https://sts.example.com/?a=b',
    'https://sts.example.com/#a',
    'https://sts.example.com/?',
    'ftp://localhost',
    'sts.example.com',
  ])('refuses the endpoint %s', (endpoint) => {
    expect(checked('sts_assume_role', { role_arn: roleArn, endpoint })).toEqual([
      'error 0.spec.endpoint | this must be an https URL without a user and a query, or an http URL on loopback',
    ]);
  });

  it('needs an identity, and refuses an invalid region of the environment', () => {
    const variables = { AWS_DEFAULT_REGION: 'evil.example/' };
    expect(checked('sts_assume_role', { role_arn: roleArn }, variables)).toEqual([
      'error 0.spec.access_key_env | the environment variable AWS_ACCESS_KEY_ID is not set; it must belong to the identity that assumes the role',
      'error 0.spec.secret_key_env | the environment variable AWS_SECRET_ACCESS_KEY is not set; it must belong to the identity that assumes the role',
      'error 0.spec.region | AWS_REGION or AWS_DEFAULT_REGION does not name a region; fix it, or add region',
    ]);
  });
});

it('two entries for one tool are refused, each with its place', () => {
  const spec = { name: 'API_KEY', from_env: 'SHOP_KEY' };
  expect(
    linesOf([
      { tool: 'refund', provider: 'static', spec },
      { tool: 'lookup', provider: 'static', spec },
      { tool: 'look-up', provider: 'static', spec },
      { tool: 'look_up', provider: 'sts_assume_role', spec: {} },
    ]),
  ).toEqual([
    'error 3.tool | an earlier entry is for this tool; keep one entry for each tool',
    'error 3.spec.role_arn | this key is missing; add it',
  ]);
});
