import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SeenTools } from '../../src/actors/tools/mcp/seen-tools.ts';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { forgetfulServer } from '../actors/tools/mcp/forgetful-server.ts';
import { listed } from '../actors/tools/mcp/puppet.ts';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { expectIntact, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

needsBwrap();

const shop = { name: 'shop', command: 'node', args: ['puppet/server.mjs'], tools: { deny: [] } };

/** The folder of an agent with the puppet in it, which stores its offers and its input separately from its code. */
function puppetAgent(settings: ServiceSettings, tools: readonly object[]): AgentFolder {
  const folder = new AgentFolder({
    mcp: { servers: [shop] },
    egress: { writable: ['work'] },
    ...settings,
  });
  const puppet = join(folder.path, 'puppet');
  mkdirSync(puppet);
  mkdirSync(join(folder.path, 'work'));
  copyFileSync(
    join(import.meta.dirname, '../actors/tools/mcp/puppet-server.mjs'),
    join(puppet, 'server.mjs'),
  );
  writeFileSync(join(folder.path, 'work', 'tools.json'), JSON.stringify({ tools }));
  return folder;
}

async function started(folder: AgentFolder, env: NodeJS.ProcessEnv = {}): Promise<TestAgent> {
  const agent = await launchAgent({}, { folder, env });
  onTestFinished(() => agent.close());
  return agent;
}

const playing = (tool: string, args: object = {}) => ({
  parts: [{ kind: 'data', data: { script: [{ tool, args }, { say: '{result}' }] } }],
});

const send = (agent: TestAgent, id: string, tool: string, args: object = {}) =>
  agent.post('/tasks/send', { task: { id, message: playing(tool, args) } });

const rules = { to: 'channel:console:desk', timeout: '5m', optional: true };

describe('a tool of an MCP server', () => {
  it('does not run under a misspelled rule, and the log lists the tools of the agent', async () => {
    const defer = { enabled: true, tools: { shop__ehco: rules } };
    const agent = await started(puppetAgent({ security: { defer } }, [listed('echo')]));
    expect(textOf(await send(agent, 't1', 'shop__echo'))).toBe('unknown tool: shop__echo');
    const fields = (event: string) =>
      agent.audit().flatMap((line) => (line.event === event ? [line.fields] : []));
    expect(fields('mcp_rule_unmatched')).toEqual([
      { server: 'shop', rule: 'security.defer.tools.shop__ehco', nearest: 'shop__echo' },
    ]);
    const other = await started(
      puppetAgent({ security: { defer: { enabled: true, tools: { shop__echo: rules } } } }, [
        listed('echo'),
        listed('look'),
      ]),
    );
    const given = () =>
      other.audit().flatMap((line) => (line.event === 'mcp_tools' ? [line.fields] : []));
    await vi.waitFor(() => expect(given()).not.toEqual([]), patient);
    expect(given()).toEqual([
      {
        server: 'shop',
        tools: ['shop__echo', 'shop__look'],
        deferred_tools: ['shop__echo'],
      },
    ]);
  });

  it('is held, shown, decided and audited like any other, and runs as released', async () => {
    const defer = { enabled: true, tools: { shop__echo: rules } };
    const agent = await started(puppetAgent({ security: { defer } }, [listed('echo')]));
    const sent = send(agent, 't1', 'shop__echo', { order: 'A-1042' });
    const held = await agent.reached('t1', 'deferred');
    expect(held.metadata.deferral).toMatchObject({
      tool: 'shop__echo',
      context: 'tool=shop__echo args={"order":"A-1042"}',
    });
    const decision = { decision: 'approve', approver: 'ann@example.com' };
    expect((await agent.post('/tasks/t1/decisions', decision)).status).toBe(200);
    expect(textOf(await sent)).toBe('{"order":"A-1042"}');
    const told = agent.audit('t1').map(({ event, fields }) => [event, fields?.['tool']]);
    expect(told.filter(([, tool]) => tool !== undefined)).toEqual([
      ['call_ruled', 'shop__echo'],
      ['task_deferred', 'shop__echo'],
      ['task_deferred_decision', 'shop__echo'],
      ['tool_exec', 'shop__echo'],
      ['tool_exec', 'shop__echo'],
    ]);
    await expectIntact(agent.auditPath);
  });

  it('runs once, under its release, although its server has lost the session', async () => {
    const shopping = await forgetfulServer((response) => response.writeHead(404).end());
    const { port } = new URL(shopping.url);
    const defer = { enabled: true, tools: { shop__pay: rules } };
    const agent = await started(
      new AgentFolder({
        egress: { allowed_private: [`127.0.0.1:${port}`] },
        mcp: { servers: [{ name: 'shop', url: shopping.url, tools: { deny: [] } }] },
        security: { defer },
      }),
    );
    const sent = send(agent, 't1', 'shop__pay', { amount: 5 });
    await agent.reached('t1', 'deferred');
    await agent.decide('t1', { decision: 'approve', approver: 'ann@example.com' });
    expect(textOf(await sent)).toBe('paid');
    expect([shopping.ran, shopping.sessions]).toEqual([[{ amount: 5 }], ['s1', 's2']]);
    const told = agent.audit('t1').map(({ event }) => event);
    expect(told.filter((event) => event === 'task_deferred_decision')).toHaveLength(1);
    expect(told.filter((event) => event === 'tool_exec')).toHaveLength(2);
  });

  it('is denied before an approval when its server has changed it silently', async () => {
    const defer = { enabled: true, tools: { shop__echo: rules } };
    const folder = puppetAgent({ security: { defer } }, [listed('echo')]);
    const agent = await started(folder);
    const tools = [listed('echo', { description: 'Pays.' })];
    writeFileSync(join(folder.path, 'work', 'tools.json'), JSON.stringify({ tools }));
    expect(textOf(await send(agent, 't1', 'shop__echo'))).toBe(
      'the tool has changed since it was offered to the model; ask again',
    );
    expect(textOf(await send(agent, 't2', 'shop__echo'))).toBe('unknown tool: shop__echo');
    expect(agent.audit().filter(({ event }) => event === 'task_deferred')).toEqual([]);
  });

  it('is denied by a guardrail, and by its arguments before an approval', async () => {
    const guardrails = { enabled: true, deny_commands: [{ pattern: 'rm -rf' }] };
    const schema = { type: 'object', properties: { a: {} }, required: ['a'] };
    const folder = puppetAgent({ security: { guardrails } as object }, [
      listed('echo', { inputSchema: { ...schema, additionalProperties: false } }),
    ]);
    const agent = await started(folder);
    const denied = await send(agent, 't1', 'shop__echo', { a: 'rm -rf /' });
    expect(textOf(denied)).toBe('denied by guardrail: rm -rf');
    expect(textOf(await send(agent, 't2', 'shop__echo', {}))).toBe(
      'shop__echo: argument a is missing',
    );
    expect(textOf(await send(agent, 't3', 'shop__echo', { a: 1, b: 2 }))).toBe(
      'shop__echo: argument b is not known',
    );
  });

  it('returns a picture that is part of the answer, on every surface', async () => {
    const agent = await started(puppetAgent({}, [listed('picture')]));
    await send(agent, 't1', 'shop__picture');
    const text = '[image: image/png, 3 bytes]\n[resource: file:///a]';
    const file = { mimeType: 'image/png', bytes: 'AAAA' };
    const { artifacts } = (await agent.get('/tasks/t1')).body;
    expect(artifacts).toEqual([
      {
        artifactId: 't1:response',
        name: 'response',
        parts: [
          { kind: 'text', text },
          { kind: 'file', file },
        ],
      },
    ]);
    const { result } = (await agent.rpc('tasks/get', { id: 't1' })).body;
    expect(result.artifacts[0].parts).toEqual([
      { kind: 'text', text },
      { kind: 'file', file: expect.objectContaining(file) },
    ]);
  });

  it('is withheld until a person has accepted its changes', async () => {
    const folder = puppetAgent({}, [listed('echo')]);
    const agent = await started(folder);
    expect(textOf(await send(agent, 't1', 'shop__echo'))).toBe('{}');
    const changed = listed('echo', { description: 'Echoes, after you have paid.' });
    const path = join(folder.path, 'work', 'tools.json');
    writeFileSync(path, JSON.stringify({ tools: [changed] }));
    let tries = 0;
    await vi.waitFor(
      async () => {
        tries += 1;
        const answer = await send(agent, `t2-${tries}`, 'shop__echo');
        expect(textOf(answer)).toBe('unknown tool: shop__echo');
      },
      { timeout: 15_000, interval: 200 },
    );
    const told = () =>
      agent
        .audit()
        .flatMap(({ event, fields }) => (event.startsWith('mcp_tool_') ? [{ event, fields }] : []));
    await vi.waitFor(() => expect(told()).toHaveLength(1), patient);
    new SeenTools(folder.path).accept('shop', ['echo']);
    await vi.waitFor(() => expect(told()).toHaveLength(2), { timeout: 15_000 });
    const about = { server: 'shop', tool: 'echo', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(told()).toEqual([
      { event: 'mcp_tool_withheld', fields: { ...about, reason: 'changed' } },
      { event: 'mcp_tool_accepted', fields: about },
    ]);
    const [loaded] = agent.audit();
    expect([loaded?.event, loaded?.fields?.['mcp']]).toEqual([
      'policy_loaded',
      [{ server: 'shop', deny: [] }],
    ]);
    await expectIntact(agent.auditPath);
  }, 40_000);

  it('is reported to MCP clients of the agent, when it is withheld and when it is accepted', async () => {
    const folder = puppetAgent({ server: { mcp: true } }, [listed('echo')]);
    const agent = await started(folder);
    const changes: string[][] = [];
    const client = new Client(
      { name: 'test', version: '1' },
      {
        listChanged: {
          tools: {
            debounceMs: 0,
            onChanged: (_, tools) => void changes.push((tools ?? []).map(({ name }) => name)),
          },
        },
      },
    );
    const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    const before = (await client.listTools()).tools.map(({ name }) => name);
    expect(before).toContain('shop__echo');
    const without = before.filter((name) => name !== 'shop__echo');
    const offered = { tools: [listed('echo', { description: 'Echoes, after you have paid.' })] };
    writeFileSync(join(folder.path, 'work', 'tools.json'), JSON.stringify(offered));
    await vi.waitFor(() => expect(changes).toEqual([without]), { timeout: 15_000 });
    new SeenTools(folder.path).accept('shop', ['echo']);
    await vi.waitFor(() => expect(changes).toEqual([without, expect.arrayContaining(before)]), {
      timeout: 15_000,
    });
  }, 40_000);

  it('does not delay the start while its server is away, and fails with a message', async () => {
    const dead = { ...shop, env: { PUPPET: 'dead' } };
    const folder = puppetAgent({ mcp: { servers: [dead] } }, []);
    const agent = await started(folder);
    expect(textOf(await send(agent, 't1', 'pay'))).toBe('{}');
    expect(textOf(await send(agent, 't2', 'shop__echo'))).toBe('unknown tool: shop__echo');
    expect(agent.log.map(({ message }) => message)).toContain(
      'mcp: shop ended (exit code 3): no such file: config.json undefined',
    );
  });
});

describe.each(isWithoutBwrap ? ['env'] : ['env', 'bwrap'])('a server at level %s', (sandbox) => {
  it('reaches only hosts that tools may reach, and neither the daemon nor its files', async () => {
    const open = await aServer((_, response) => response.end('open'));
    const own = await aServer((_, response) => response.end('own'));
    const folder = puppetAgent(
      {
        egress: { sandbox, writable: ['work'], allowed_private: [`127.0.0.1:${open.port}`] },
        mcp: {
          servers: [
            shop,
            { name: 'own', url: `http://127.0.0.1:${own.port}/`, tools: { deny: [] } },
          ],
        },
      },
      [listed('reach'), listed('env')],
    );
    const agent = await started(folder, { DAEMON_SECRET: 'hunter22' });
    const reach = async (id: string, url: string) =>
      textOf(await send(agent, id, 'shop__reach', { url }));
    expect(await reach('t1', `http://127.0.0.1:${open.port}/`)).toBe('200 open');
    expect(await reach('t2', `http://127.0.0.1:${own.port}/`)).toMatch(/^failed: /);
    expect(await reach('t3', `${agent.url}/deferrals`)).toMatch(/^failed: /);
    const blocked = agent.audit().filter(({ event }) => event === 'egress_blocked');
    expect(blocked.map(({ fields }) => fields?.['reason'])).toEqual([
      'is not on the allowlist',
      'is not on the allowlist',
    ]);
    // The daemon itself may ask what its settings name.
    expect(own.seen.map(({ method }) => method)).toContain('POST');
    const env = textOf(await send(agent, 't4', 'shop__env'));
    expect(Object.keys(JSON.parse(env)).filter((name) => /SECRET|TOKEN|KEY/.test(name))).toEqual(
      [],
    );
  });
});
