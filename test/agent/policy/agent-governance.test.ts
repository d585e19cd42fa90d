import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/actors/config/config.ts';
import { CredentialError } from '../../../src/actors/governance/credentials/credentials.ts';
import type { Outbound } from '../../../src/actors/ports/egress.ts';
import { createGovernance } from '../../../src/agent/policy/agent-governance.ts';
import { startServer, vectorsBody } from '../../actors/governance/alignment/embedding-server.ts';
import { assumedRole, fakeSts } from '../../actors/governance/credentials/fake-sts.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { notedOutbound, refusingOutbound } from '../../helpers/noted-outbound.ts';

const env = { AWS_ACCESS_KEY_ID: 'AKIABASE', AWS_SECRET_ACCESS_KEY: 'canary-base' };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

function governed(settings: string, outbound: Outbound) {
  const reading = parseConfig(`agent_id: x\n${settings}`, { file: 'service.yaml', env });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const { config } = reading;
  const clock = new ManualClock(Date.parse('2026-03-01T12:00:00Z'));
  const parts = {
    config,
    isAuthOn: false,
    tools: new Map(),
    guardrails: null,
    modify: null,
    scrub: (text: string) => text,
    env,
    clock,
    log: silent,
  };
  return createGovernance({ ...parts, outbound });
}

const alignment = (address: string) =>
  `security: {intent_alignment: {enabled: true, provider: openai-compatible, base_url: "${address}"}}`;

const role = (endpoint: string) =>
  `credentials: [{tool: refund, provider: sts_assume_role, spec: {role_arn: "arn:aws:iam::123456789012:role/r", endpoint: "${endpoint}"}}]`;

const question = {
  request: {
    kind: 'message' as const,
    messageId: 'm',
    role: 'user' as const,
    parts: [{ kind: 'text' as const, text: 'refund order 7' }],
  },
  tool: 'refund',
  toolDescription: 'Refunds an order',
  args: {},
  signal: new AbortController().signal,
};

const call = { tool: 'refund', taskId: 't', callId: 'c', signal: new AbortController().signal };

it('the embedder is called through egress', async () => {
  const { address, seen } = await startServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      vectorsBody([
        [1, 0],
        [1, 0],
      ]),
    );
  });
  const outbound = notedOutbound();
  const { scorer } = governed(alignment(address), outbound);
  expect(await scorer?.(question)).toMatchObject({ score: 1 });
  expect(outbound.passed).toEqual([`POST ${address}/embeddings`]);
  expect(seen.length).toBe(1);
});

it('every call is denied when the embedder may not be called', async () => {
  const { address, seen } = await startServer(() => undefined);
  const { scorer } = governed(alignment(address), refusingOutbound());
  expect(await scorer?.(question)).toMatchObject({ score: null });
  expect(seen).toEqual([]);
});

it('the token service is called through egress', async () => {
  const values = { key: 'ASIAKEY', secret: 'canary-secret', token: 'canary-token' };
  const body = assumedRole(values, '2026-03-01T12:15:00Z');
  const { url, requests } = await fakeSts(() => ({ status: 200, body }));
  const outbound = notedOutbound();
  const { issuer } = governed(role(url), outbound);
  const credential = await issuer?.issue(call);
  expect(credential?.secretValues().toSorted()).toEqual(Object.values(values).toSorted());
  expect(outbound.passed).toEqual([`POST ${url}/`]);
  expect(requests.length).toBe(1);
});

it('no credentials are issued when the token service may not be called', async () => {
  const { url, requests } = await fakeSts(() => null);
  const { issuer } = governed(role(url), refusingOutbound());
  await expect(issuer?.issue(call)).rejects.toEqual(
    new CredentialError(
      'the credential for refund could not be issued: the token service could not be reached; check region and endpoint',
    ),
  );
  expect(requests).toEqual([]);
});
