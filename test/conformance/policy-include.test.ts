import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { digestOf } from '../../src/actors/config/config.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { patient } from '../helpers/patient.ts';
import { launchAgent, reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const holding = JSON.stringify({
  security: { defer: { enabled: true, tools: { pay: { to: 'channel:console:*' } } } },
});
const denying = JSON.stringify({
  security: { guardrails: { enabled: true, denied_tools: [{ tool: 'pay', when: 'true' }] } },
});
const paying = [{ tool: 'pay', args: { amount: '5' } }, { say: 'paid' }];

/** The folder of an agent that includes a policy. */
function folderWith(policy: string, security: object = {}, rest: object = {}): AgentFolder {
  const include = { policy: { include: ['./shared.yaml'] }, ...security };
  const folder = new AgentFolder({ security: include, ...rest });
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, 'shared.yaml'), policy);
  return folder;
}

const eventsOf = (agent: TestAgent, name: string) =>
  agent.audit().flatMap(({ event, fields }) => (event === name ? [fields ?? {}] : []));

describe('an agent that includes a policy', () => {
  it('holds what the policy holds, and the log names the rule with its file', async () => {
    const agent = await startTestAgent({}, { folder: folderWith(holding) });
    void agent.send('t1', paying).catch(() => undefined);
    await reached(agent, 't1', 'deferred');
    expect(eventsOf(agent, 'call_ruled')).toMatchObject([
      { decision: 'defer', rule: 'shared.yaml#defer.tools.pay' },
    ]);
    expect(eventsOf(agent, 'policy_loaded')).toMatchObject([{ deferred_tools: ['pay'] }]);
  });

  it('cannot put the included rules in shadow', async () => {
    const security = { policy: { include: ['./shared.yaml'], mode: 'shadow' } };
    const agent = await startTestAgent({}, { folder: folderWith(denying, security) });
    expect((await agent.send('t1', paying)).body.status.state).toBe('failed');
  });

  it('applies a changed included file, and keeps the earlier one if that disappears', async () => {
    const agent = await startTestAgent({}, { folder: folderWith('security: {}') });
    const shared = join(agent.folder.path, 'shared.yaml');
    expect((await agent.send('t1', paying)).body.status.state).toBe('completed');
    writeFileSync(shared, denying);
    await vi.waitUntil(() => eventsOf(agent, 'policy_loaded').length === 2, patient);
    expect((await agent.send('t2', paying)).body.status.state).toBe('failed');
    rmSync(shared);
    await vi.waitUntil(() => eventsOf(agent, 'policy_refused').length === 1, patient);
    expect((await agent.send('t3', paying)).body.status.state).toBe('failed');
    writeFileSync(shared, 'security: {}');
    await vi.waitUntil(() => eventsOf(agent, 'policy_loaded').length === 3, patient);
    expect((await agent.send('t4', paying)).body.status.state).toBe('completed');
  });

  it('has no folder in which its tools could write the included file', async () => {
    const folder = folderWith(holding, { policy: { include: ['./work/shared.yaml'] } });
    const path = join(folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...service, egress: { writable: ['work'] } }));
    mkdirSync(join(folder.path, 'work'));
    writeFileSync(join(folder.path, 'work', 'shared.yaml'), holding);
    const { problems } = await readAgent(folder.path, {}, new ManualClock(0));
    expect(problems.map(({ path: at }) => at)).toEqual(['egress.writable.0']);
  });

  it('includes no file that its tools could write while it runs', async () => {
    const agent = await startTestAgent({ egress: { writable: ['work'] } });
    const path = join(agent.folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(join(agent.folder.path, 'work', 'shared.yaml'), denying);
    const security = { policy: { include: ['./work/shared.yaml'] } };
    writeFileSync(path, JSON.stringify({ ...service, security }));
    await vi.waitUntil(() => eventsOf(agent, 'policy_refused').length === 1, patient);
    expect(eventsOf(agent, 'policy_refused')[0]?.['problems']).toEqual([
      expect.stringContaining('scripts may not write work/shared.yaml'),
    ]);
  });
});

describe('a policy from a URL', () => {
  async function serving(text: string) {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/policy.yaml`, server, requests: () => requests };
  }

  it('is fetched once, and read from its copy without a network', async () => {
    const { url, server, requests } = await serving(denying);
    const include = [{ url, sha256: digestOf(denying) }];
    const folder = new AgentFolder({ security: { policy: { include } } });
    onTestFinished(() => folder.remove());
    const first = await launchAgent({}, { folder });
    expect((await first.send('t1', paying)).body.status.state).toBe('failed');
    expect(eventsOf(first, 'egress_allowed').map(({ domain }) => domain)).toContain('127.0.0.1');
    await first.stop();
    await new Promise((closed) => server.close(closed));
    const second = await launchAgent({}, { folder });
    expect((await second.send('t2', paying)).body.status.state).toBe('failed');
    expect(requests()).toBe(1);
    await second.stop();
  });

  it.each<[string, string, RegExp]>([
    ['another content', holding, /: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}$/],
    ['a long one', 'x'.repeat(300_000), /: it is larger than 256 KiB$/],
  ])('stops the start with one message: %s', async (_, text, sentence) => {
    const { url } = await serving(text);
    const include = [{ url, sha256: digestOf(denying) }];
    const folder = new AgentFolder({ security: { policy: { include } } });
    onTestFinished(() => folder.remove());
    await expect(launchAgent({}, { folder })).rejects.toThrow(sentence);
  });
});
