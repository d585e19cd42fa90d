import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentProof } from '../../src/actors/agent-proof.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { startInFolder } from '../helpers/test-agent.ts';

describe('a daemon that is asked for its identity', () => {
  it('proves that it wrote the serve.json of its folder, and refuses malformed challenges', async () => {
    const folder = new AgentFolder({});
    onTestFinished(() => folder.remove());
    const agent = await startInFolder(folder);
    const served = JSON.parse(readFileSync(join(folder.path, '.service/serve.json'), 'utf8'));
    const ask = async (challenge: string) => {
      const headers = { 'X-Service-Challenge': challenge };
      const response = await fetch(`${agent.url}/healthz`, { headers });
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
      return response.headers.get('X-Service-Proof');
    };
    const challenge = 'something-nobody-asked-yet';
    expect(await ask(challenge)).toBe(agentProof(served.proof_key, challenge, served.port));
    for (const odd of ['short', 'x'.repeat(129), 'with blanks in the middle']) {
      expect(await ask(odd)).toBeNull();
    }
  });
});
