import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isPageOrigin, readDashboard } from '../../../src/actors/config/config.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const signIn = '{issuer: "https://id.example.com", client_id: c, groups_claim: groups}';

function read(text: string) {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace, 'dashboard.yaml'), text);
  return readDashboard(workspace, { SET: 'a-secret' });
}

function linesOf(text: string): string[] {
  const { problems = [], warnings = [] } = read(text) ?? {};
  const line = (severity: string) => (one: (typeof problems)[number]) =>
    `${severity} ${one.line}:${one.column} ${one.message}`;
  return [...problems.map(line('error')), ...warnings.map(line('warning'))];
}

it('the dashboard file may be missing, and has defaults except for the sign-in', () => {
  expect(readDashboard(temporaryFolder(), {})).toBeNull();
  const reading = read(`sign_in: ${signIn}\noperators: [" Ann@Example.com", "group:ops"]\n`);
  expect(reading?.settings).toMatchObject({
    operators: ['ann@example.com', 'group:ops'],
    ...{ claims: [], trusted_proxies: [], idle: 1_800_000, lifetime: 28_800_000 },
  });
});

it.each([
  ['operators: [ann@example.com]', /^error 1:1 .*sign_in/],
  [`sign_in: ${signIn}`, /^warning 1:1 no one may start or stop agents at the public address/],
  [
    `sign_in: ${signIn}\noperators: [ann]`,
    /^error 2:13 .*this must be an email, group:NAME or claim:NAME=VALUE$/,
  ],
  [`sign_in: ${signIn}\noperators: ["oncall:ops"]`, /^error 2:13 .*this must be an email/],
  [
    'sign_in: {issuer: "https://id.example.com", client_id: c}\noperators: ["group:ops"]',
    /^error 2:13 no one is in a group without sign_in.groups_claim/,
  ],
  [
    `sign_in: {issuer: "http://id.example.com", client_id: c}\noperators: [a@b.io]`,
    /^error 1:19 .*https URL/,
  ],
  [`sign_in: ${signIn}\noperators: [a@b.io]\ntrusted_proxies: [x]`, /^error 3:19 a trusted proxy/],
  [`sign_in: ${signIn}\noperators: [a@b.io]\npublic_url: x`, /^error 3:1 .*unknown key/],
  [
    `sign_in: {issuer: "https://id.example.com", client_id: c, client_secret_env: UNSET}\noperators: [a@b.io]`,
    /^error 1:78 the environment variable UNSET is not set/,
  ],
])('the dashboard file has a problem with its place: %s', (text, line) => {
  expect(linesOf(text)).toEqual([expect.stringMatching(line)]);
});

it.each([
  ['https://ops.example.com', true],
  ['https://ops.example.com:8443', true],
  ['http://127.0.0.1:4200', true],
  ['http://ops.example.com', false],
  ['https://ops.example.com/desk', false],
  ['https://OPS.example.com', false],
  ['ops.example.com', false],
])('the page origin of %s is %s', (text, isOrigin) => {
  expect(isPageOrigin(text)).toBe(isOrigin);
});
