import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { startInFolder, type TestAgent } from '../helpers/test-agent.ts';

async function withSkills(
  settings: ServiceSettings & { skills?: object } = {},
): Promise<TestAgent> {
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  const skill = join(folder.path, 'skills/forms');
  mkdirSync(join(skill, 'references'), { recursive: true });
  const text = `---\nname: forms\ndescription: Fills forms\n---\n${'Fill them. '.repeat(1_000)}`;
  writeFileSync(join(skill, 'SKILL.md'), text);
  writeFileSync(join(skill, 'references/a.md'), 'Of forms.');
  return startInFolder(folder);
}

const defer = { enabled: true, tools: { skill_read: { to: 'channel:console:*' } } };
const held: ServiceSettings = { security: { defer } };
const reading = { tool: 'skill_read', args: { name: 'forms', path: 'references/a.md' } };
const send = (agent: TestAgent, id: string, ...script: object[]) =>
  agent.post('/tasks/send', {
    id,
    message: { role: 'user', parts: [{ kind: 'data', data: { script } }] },
  });

describe('skills that the model opens itself', () => {
  it('are tools of the agent, with their calls in the log', async () => {
    const agent = await withSkills();
    const { body } = await send(agent, 't1', reading, { say: '{result}' });
    expect(body).toMatchObject({
      status: { state: 'completed', message: { parts: [{ text: 'Of forms.' }] } },
    });
    const events = agent.audit('t1');
    expect(events.map(({ event }) => event)).toContain('tool_exec');
    expect(events.find(({ event }) => event === 'call_ruled')).toMatchObject({
      fields: { tool: 'skill_read', decision: 'allow' },
    });
  });

  it('are denied by a rule', async () => {
    const guardrails = { enabled: true, denied_tools: ['skill_read'] };
    const agent = await withSkills({ security: { guardrails } });
    const { body } = await send(agent, 't1', reading);
    expect(body).toMatchObject({ status: { state: 'failed' } });
    expect(JSON.stringify(body)).toContain('skill_read is a denied tool');
  });

  it('wait for a person by a rule, and run as approved', async () => {
    const agent = await withSkills(held);
    void send(agent, 't1', reading, { say: '{result}' });
    await agent.reached('t1', 'deferred');
    const approval = { decision: 'approve', approver: 'ann@example.com' };
    await agent.post('/tasks/t1/decisions', approval);
    await agent.reached('t1', 'completed');
    expect(JSON.stringify((await agent.get('/tasks/t1')).body)).toContain('Of forms.');
  });

  it('do not run with a file that has changed since', async () => {
    const agent = await withSkills(held);
    void send(agent, 't1', reading, { say: '{result}' });
    await agent.reached('t1', 'deferred');
    writeFileSync(join(agent.folder.path, 'skills/forms/references/a.md'), 'Other.');
    await agent.post('/tasks/t1/decisions', { decision: 'approve', approver: 'ann@example.com' });
    await agent.reached('t1', 'failed');
    expect(JSON.stringify((await agent.get('/tasks/t1')).body)).toContain(
      'what would run has changed since the approval was requested',
    );
  });

  it('have no tools when their texts are in the prompt', async () => {
    const agent = await withSkills({ skills: { disclosure: 'full' } });
    const { body } = await send(agent, 't1', reading);
    expect(JSON.stringify(body)).toContain('unknown tool: skill_read');
  });

  it('are on the card by their names, without the tools', async () => {
    const agent = await withSkills();
    const { body } = await agent.get('/.well-known/agent-card.json');
    const { skills } = body as { skills: { id: string }[] };
    expect(skills.map(({ id }) => id)).toEqual(expect.arrayContaining(['forms']));
    expect(skills.map(({ id }) => id)).not.toContain('skill_read');
  });

  it('offer their tools to MCP clients, with the names of the skills', async () => {
    const agent = await withSkills({ server: { mcp: true } });
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'skill_open')?.inputSchema).toMatchObject({
      properties: { name: { enum: ['till', 'forms'] } },
    });
    const called = { name: 'skill_read', arguments: { name: 'forms', path: 'references/a.md' } };
    expect((await client.callTool(called)).content).toEqual([{ type: 'text', text: 'Of forms.' }]);
  });
});
