import { afterAll, expect, it } from 'vitest';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { cleanUp, holdpoint, startDaemon } from '../cli/holdpoint.ts';
import { AgentClient, playing } from '../helpers/agent-client.ts';
import { reached, textOf } from '../helpers/test-agent.ts';
import { fakeService } from './fake-service.ts';

afterAll(cleanUp);

it('a skill that is added to an agent changes nothing before an approval', async () => {
  const service = await fakeService({
    'POST /api/chat.postMessage': { body: { ok: true, channel: 'C123456', ts: '1.2' } },
  });
  const directory = agentFolder({
    'service.yaml': `agent_id: desk
model: {provider: scripted}
egress: {allowed_private: ["${service.entry}"]}
`,
  });
  const added = await holdpoint(['skills', 'add', 'slack-post', '--dir', directory]);
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('added slack-post')]);
  const env = { SLACK_POST_TOKEN: 'canary', SLACK_API_URL: `${service.url}/api` };
  const daemon = await startDaemon(directory, { env });
  const caller = new AgentClient(daemon.url, null);
  const args = { channel: '#deploys', text: '1.5.0 is out' };
  const message = playing([{ tool: 'post_message', args }, { say: '{result}' }]);
  const sent = caller.post('/tasks/send', { task: { id: 's1', message } });
  const { metadata } = await reached(caller, 's1', 'deferred');
  expect([metadata.deferral.tool, service.asked]).toEqual(['post_message', []]);
  const decision = { decision: 'approve', approver_email: 'ann@example.com' };
  expect((await caller.decide('s1', decision)).status).toBe(200);
  expect(JSON.parse(textOf(await sent))).toEqual({ channel: 'C123456', ts: '1.2' });
  expect(service.asked.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { ...args, unfurl_links: false },
  ]);
});
