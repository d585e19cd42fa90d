import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { createCredentialIssuer } from '../../../../src/actors/governance/credentials/credentials.ts';
import type { Outbound } from '../../../../src/actors/ports/egress.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { assumedRole, refusal } from './fake-sts.ts';

const role_arn = 'arn:aws:iam::123456789012:role/refunds';
const values = { key: 'ASIACANARYKEY', secret: 'canary-secret', token: 'canary-token' };
const env = { AWS_ACCESS_KEY_ID: 'AKIABASEKEY', AWS_SECRET_ACCESS_KEY: 'canary-base-secret' };
const granted = () => new Response(assumedRole(values, '2026-03-01T12:15:00Z'));

interface Sent {
  url: string;
  init: RequestInit;
}

/** Issues a credential through an egress, and tells what was sent through it. */
async function issued(spec: JsonObject, answer: (count: number) => Response = granted) {
  const sent: Sent[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    sent.push({ url: String(url), init });
    return answer(sent.length);
  };
  const quiet = () => undefined;
  const entry = { tool: 'refund', provider: 'sts_assume_role' as const };
  const issuer = createCredentialIssuer([{ ...entry, spec: { role_arn, ...spec } }], {
    env,
    clock: new ManualClock(Date.parse('2026-03-01T12:00:00Z')),
    log: { info: quiet, warn: quiet, error: quiet },
    outbound: { fetch } as unknown as Outbound,
  });
  const { signal } = new AbortController();
  const call = { tool: 'refund', taskId: 'task-1', callId: 'call-1', signal };
  const credential = await issuer.issue(call);
  return { credential, sent, signal };
}

it('a role is assumed through the egress of the agent, without redirects, and listeners on the task are removed', async () => {
  const { credential, sent, signal } = await issued({ region: 'eu-west-3' });
  expect(credential.env()['AWS_SESSION_TOKEN']).toBe(values.token);
  expect(
    sent.map(({ url, init: { method, redirect, body } }) => [url, method, redirect, body]),
  ).toEqual([
    [
      'https://sts.eu-west-3.amazonaws.com/',
      'POST',
      'manual',
      expect.stringContaining('Action=AssumeRole'),
    ],
  ]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('a role uses no AWS setting of the process', async () => {
  vi.stubEnv('AWS_SDK_UA_APP_ID', 'canary-app');
  vi.stubEnv('AWS_AUTH_SCHEME_PREFERENCE', 'sigv4a');
  vi.stubEnv('AWS_SIGV4A_SIGNING_REGION_SET', 'canary-region');
  vi.stubEnv('AWS_USE_FIPS_ENDPOINT', 'true');
  vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  const { sent } = await issued({}, (count) =>
    count === 1 ? new Response(refusal('ServiceUnavailable', 'busy'), { status: 503 }) : granted(),
  );
  const said = sent.map(({ url, init }) => [url, [...new Headers(init.headers)].join('\n')]);
  expect(said.map(([url]) => url)).toEqual(Array(2).fill('https://sts.us-east-1.amazonaws.com/'));
  for (const [, headers] of said) {
    expect(headers).toContain('AWS4-HMAC-SHA256');
    expect(headers).not.toMatch(/canary|app\//);
  }
});

it('a role is signed with the time of the service when the clock of the machine is wrong', async () => {
  const days = 24 * 3_600_000;
  const date = new Date(Date.now() - 30 * days);
  const { sent } = await issued({}, (count) =>
    count === 1
      ? new Response(refusal('RequestExpired', 'late'), {
          status: 400,
          headers: { date: date.toUTCString() },
        })
      : granted(),
  );
  const signed = sent.map(({ init }) => new Headers(init.headers).get('x-amz-date')?.slice(0, 8));
  expect(signed).toHaveLength(2);
  expect(signed[1]).toBe(date.toISOString().slice(0, 10).replaceAll('-', ''));
});
