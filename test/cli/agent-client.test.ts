import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentProof } from '../../src/actors/agent-proof.ts';
import { randomToken, writeServeFile } from '../../src/actors/process/serve-file.ts';
import { AgentClient } from '../../src/cli/agent-client.ts';
import { findAgent } from '../../src/cli/find-agent.ts';
import { temporaryFolder } from '../helpers/test-system.ts';

const key = randomToken();

/** A folder whose `serve.json` names a listener, and what that listener has been sent. */
async function served(prove: (challenge: string, port: number) => string | null) {
  const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    const challenge = String(request.headers['x-service-challenge'] ?? '');
    const proof = challenge === '' ? null : prove(challenge, port);
    if (proof !== null) response.setHeader('X-Service-Proof', proof);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dir = temporaryFolder();
  mkdirSync(join(dir, '.service'));
  writeServeFile(join(dir, '.service'), {
    ...{ pid: process.pid, port, host: '127.0.0.1', auth_enabled: false, token_path: '' },
    ...{ started_at: '2026-07-01T09:00:00.000Z', version: '0.1.0', proof_key: key },
  });
  const client = new AgentClient(findAgent({ dir }, { SERVICE_TOKEN: 'of-the-operator' }));
  onTestFinished(() => client.close());
  const get = () =>
    client.json({ method: 'GET', path: '/tasks', signal: new AbortController().signal });
  return { get, seen };
}

describe('AgentClient', () => {
  it('shows its token to a listener that has proved its identity, and calls it once', async () => {
    const { get, seen } = await served((challenge, port) => agentProof(key, challenge, port));
    await get();
    await get();
    const told = seen.map(({ url, headers }) => [url, headers.authorization]);
    expect(told).toEqual([
      ['/healthz', undefined],
      ['/tasks', 'Bearer of-the-operator'],
      ['/tasks', 'Bearer of-the-operator'],
    ]);
  });

  it.each<[string, (challenge: string, port: number) => string | null]>([
    ['says nothing', () => null],
    ['has no key', (challenge, port) => agentProof('guessed', challenge, port)],
    ['forwards the challenge to another port', (challenge) => agentProof(key, challenge, 1)],
    ['repeats an earlier answer', (_, port) => agentProof(key, 'a-challenge-of-old', port)],
    ['returns the challenge', (challenge) => challenge],
  ])('sends nothing to a listener that %s', async (_, prove) => {
    const { get, seen } = await served(prove);
    await expect(get()).rejects.toMatchObject({ code: 'not_running', exitCode: 3 });
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/healthz', undefined],
    ]);
  });
});
