import { expect, it } from 'vitest';
import { serverSecrets, shownPlace } from '../../../../src/actors/tools/mcp/server-secrets.ts';
import { puppetConfig } from './puppet.ts';

const secretsOf = (env: Record<string, string>, headers = {}, filled?: string[]) => [
  ...new Set(serverSecrets(puppetConfig({ env, headers, filled }))),
];

it.each([
  'TOKEN',
  'GITHUB_TOKEN',
  'api_key',
  'SHOP-SECRET',
  'PGPASSWORD',
  'DB_PASSWORD_2',
  'APIKEY',
  'GITLAB_PAT',
])('the variable %s contains a secret', (name) => {
  expect(secretsOf({ [name]: 'sesame-open' })).toEqual(['sesame-open']);
});

it.each([
  'JIRA_URL',
  'NODE_ENV',
  'AWS_REGION',
  'MEMORY_FILE_PATH',
  'LOG_LEVEL',
  'MONKEY',
  'TOKENIZER',
  'KEYBOARD',
  'PATH',
])('the variable %s contains no secret, unless one was filled in', (name) => {
  expect(secretsOf({ [name]: 'us-east-1' })).toEqual([]);
  expect(secretsOf({ [name]: 'a/us-east-1' }, {}, ['us-east-1'])).toEqual(['us-east-1']);
});

it('the credentials of a header are a secret, and each word of them', () => {
  const headers = {
    ...{ Authorization: 'Bearer sesame1', 'X-Api-Key': 'a1b2c3d4', Cookie: 'sid=f00f00f00' },
    ...{ Accept: 'application/json', 'X-Region': 'us-east-1' },
  };
  expect(secretsOf({}, headers)).toEqual([
    ...['Bearer sesame1', 'a1b2c3d4', 'sid=f00f00f00', 'sesame1', 'f00f00f00'],
  ]);
});

it('the password in an address is a secret, and the address is not', () => {
  expect(secretsOf({ DATABASE_URL: 'postgres://app:open%20sesame@db.example.com/shop' })).toEqual([
    ...['open%20sesame', 'open sesame'],
  ]);
});

it('a key in the address of a server is never shown', () => {
  const { command: _, ...shop } = puppetConfig({
    url: 'https://shop.example.com/s/open-sesame/mcp?shopApiKey=sesame-open&lang=english-gb',
    args: [],
    filled: ['open-sesame'],
  });
  expect(shownPlace(shop)).toBe(
    'https://shop.example.com/s/[redacted:credential]/mcp?shopApiKey=[redacted:credential]&lang=english-gb',
  );
  expect(serverSecrets(shop)).toEqual(['sesame-open', 'sesame-open', 'open-sesame']);
});
