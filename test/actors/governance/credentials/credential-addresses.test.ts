import { expect, it } from 'vitest';
import {
  type CredentialEntry,
  credentialAddresses,
} from '../../../../src/actors/governance/credentials/credentials.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const role_arn = 'arn:aws:iam::123456789012:role/refunds';

function role(spec: JsonObject): CredentialEntry {
  return { tool: 'refund', provider: 'sts_assume_role', spec: { role_arn, ...spec } };
}

it.each<[string, JsonObject, Record<string, string>, string]>([
  ['its endpoint', { endpoint: 'https://sts.example.com/x' }, {}, 'https://sts.example.com/x'],
  [
    'its region before those of the environment',
    { region: 'eu-west-3' },
    { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' },
    'https://sts.eu-west-3.amazonaws.com',
  ],
  [
    'the region of the environment before the default one',
    {},
    { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' },
    'https://sts.eu-west-1.amazonaws.com',
  ],
  [
    'the default region of the environment where the other is empty',
    {},
    { AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-west-2' },
    'https://sts.eu-west-2.amazonaws.com',
  ],
  ['the built-in default region', {}, {}, 'https://sts.us-east-1.amazonaws.com'],
  ['a region in China', { region: 'cn-north-1' }, {}, 'https://sts.cn-north-1.amazonaws.com.cn'],
])('the host of a role service comes from %s', (_, spec, env, url) => {
  expect(credentialAddresses([role(spec)], env)).toEqual([{ index: 0, url }]);
});

it('a static credential and an invalid role have no host', () => {
  const entries: CredentialEntry[] = [
    { tool: 'look', provider: 'static', spec: { name: 'KEY', from_env: 'KEY' } },
    { tool: 'look', provider: 'static', spec: { role_arn } },
    role({ duration: 'soon' }),
    role({}),
  ];
  expect(credentialAddresses(entries, {})).toEqual([
    { index: 3, url: 'https://sts.us-east-1.amazonaws.com' },
  ]);
});
