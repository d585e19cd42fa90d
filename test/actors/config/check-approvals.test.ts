import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const token = '{type: static_token, name: shop, settings: {token_env: SET}}';
const oidc = '{type: oidc, name: staff, settings: {issuer: "https://id.example.com", audience: x}}';

function lines(approvals: string, providers = `[${token}]`): string[] {
  const text = `agent_id: x\napprovals: ${approvals}\nauth: {providers: ${providers}}\n`;
  return linesOf(read(text, { SET: 'a-token' }));
}

function page(signIn = '', url = 'https://a.example.com'): string {
  return `{public_url: "${url}", sign_in: {issuer: "https://id.example.com", client_id: c${signIn}}}`;
}

it('a page may have its own issuer, or the issuer of a provider', () => {
  expect(lines(page())).toEqual([]);
  expect(lines(page(', name: staff'), `[${oidc}]`)).toEqual([]);
});

it.each([
  ['https://a.example.com/'],
  ['https://a.example.com/desk'],
  ['https://A.example.com'],
  ['http://a.example.com'],
  ['https://ann:pw@a.example.com'],
])('a page may not have the origin %s', (url) => {
  expect(lines(page('', url))).toEqual([
    'error 2:25 approvals.public_url | approvals.public_url: this must be the origin of the page, such as https://approvals.example.com: https, or http on a loopback host, in lower case and without a path',
  ]);
});

it.each([
  [
    'no provider',
    page(),
    '[]',
    'error 2:12 approvals | without auth.providers everyone who reaches the agent decides without signing in; add a provider, such as static_token',
  ],
  [
    'a secret that is not set',
    page(', client_secret_env: UNSET'),
    `[${token}]`,
    'error 2:127 approvals.sign_in.client_secret_env | the environment variable UNSET is not set; it must hold the secret of the client',
  ],
  [
    'no scope openid',
    page(', scopes: [email]'),
    `[${token}]`,
    'error 2:116 approvals.sign_in.scopes | without the scope openid nobody is identified; add openid',
  ],
  [
    "the name of the daemon's own token",
    page(', name: runtime'),
    `[${token}]`,
    "error 2:114 approvals.sign_in.name | this is the name of the daemon's own token; choose another",
  ],
  [
    'the name of a provider with other people',
    page(', name: shop'),
    `[${token}]`,
    'error 2:114 approvals.sign_in.name | the provider of this name has another issuer, whose people would count as the same; choose another name',
  ],
])('a page may not have %s', (_, approvals, providers, problem) => {
  expect(lines(approvals, providers)).toEqual([problem]);
});
