import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { describe, expect, it, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { expectIntact, reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';
import { startToolServer, type ToolServer } from '../helpers/tool-server.ts';

const ann = { decision: 'approve', approver: 'ann@example.com' };

/** People with tokens such as `token-of-ann`, and the groups that the tokens name. */
const staff = (people: Record<string, unknown>) => ({
  required: true,
  providers: Object.entries(people).map(([name, groups]) => ({
    type: 'static_token',
    name,
    groups_claim: 'groups',
    settings: {
      token: `token-of-${name}`,
      identity: {
        user_id: name,
        email: `${name}@example.com`,
        claims: groups === undefined ? {} : { groups },
      },
    },
  })),
});

const rule = { to: 'channel:console:desk', timeout: '5m' };

interface Servers {
  shop: ToolServer;
  crm: ToolServer;
}

async function startServers(): Promise<Servers> {
  return {
    shop: await startToolServer(['find_order', 'refund']),
    crm: await startToolServer(['find_customer', 'a__b']),
  };
}

/** The settings of a gateway to two servers. */
function gateway(
  servers: Servers,
  settings: ServiceSettings = {},
  views: object[] = [],
): ServiceSettings {
  return {
    gate: {},
    server: { mcp: { answer_within: '100ms' } },
    ...settings,
    mcp: {
      servers: Object.entries(servers).map(([name, { url }]) => ({
        ...{ name, url, tools: { deny: [] } },
      })),
      ...(views.length === 0 ? {} : { views }),
    },
  };
}

/** Resolves with a gateway once it has the tools of the two servers. */
async function started(settings: ServiceSettings, folder?: AgentFolder): Promise<TestAgent> {
  const agent = await startTestAgent(settings, folder === undefined ? {} : { folder });
  const given = () => agent.audit().filter(({ event }) => event === 'mcp_tools');
  await vi.waitFor(() => expect(given()).toHaveLength(2), patient);
  return agent;
}

const startGateway = (...given: Parameters<typeof gateway>): Promise<TestAgent> =>
  started(gateway(...given));

const clientOf = (agent: TestAgent, name?: string): Promise<Client> =>
  mcpClientAt(agent.url, name === undefined ? {} : { token: `token-of-${name}` });

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).toSorted();

function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
  return client.callTool({ name, arguments: args });
}

describe('a gate with MCP servers', () => {
  it('offers the tools of all servers at one address, and runs, holds and records their calls', async () => {
    const servers = await startServers();
    const defer = { enabled: true, tools: { shop__refund: rule } };
    const agent = await startGateway(servers, { security: { defer } });
    const client = await clientOf(agent);
    expect(await namesOf(client)).toEqual([
      ...['crm__a__b', 'crm__find_customer', 'shop__find_order', 'shop__refund', 'task_result'],
    ]);
    expect(textIn(await call(client, 'crm__a__b', { order: 'A-1' }))).toBe('a__b {"order":"A-1"}');
    const held = await call(client, 'shop__refund', { order: 'A-1' });
    const { task_id } = held._meta;
    expect(servers.shop.ran).toEqual([]);
    expect((await agent.get('/deferrals')).body.deferrals).toMatchObject([
      { task_id, tool: 'shop__refund', args: { order: 'A-1' } },
    ]);
    expect(await agent.decide(task_id, ann)).toMatchObject({ status: 200 });
    await agent.reached(task_id, 'completed');
    expect(textIn(await call(client, 'task_result', { task_id }))).toBe('refund {"order":"A-1"}');
    expect(servers.shop.ran).toEqual([['refund', { order: 'A-1' }]]);
    const events = agent.audit(task_id).map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(['task_deferred', 'tool_exec', 'session_end']));
    await expectIntact(agent.auditPath);
  });

  it('keeps the tools of other servers while one is away, whose calls name it', async () => {
    const servers = await startServers();
    const agent = await startGateway(servers);
    const client = await clientOf(agent);
    servers.crm.instead = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    expect(await namesOf(client)).toContain('crm__find_customer');
    const [failed, found] = await Promise.all([
      call(client, 'crm__find_customer'),
      call(client, 'shop__find_order'),
    ]);
    expect(textIn(found)).toBe('find_order {}');
    expect([failed.isError, textIn(failed)]).toEqual([
      true,
      expect.stringMatching(/^crm__find_customer (was not run|failed): .*server/),
    ]);
  });

  it("runs no call of another program, and creates no hold for a server's call", async () => {
    const servers = await startServers();
    const agent = await startGateway(servers, {
      gate: { tools: { Bash: {} }, unknown: 'allow' },
    });
    const client = await clientOf(agent);
    expect(await namesOf(client)).not.toContain('Bash');
    expect(textIn(await call(client, 'Bash'))).toBe('unknown tool: Bash');
    expect(textIn(await call(client, 'anything'))).toBe('unknown tool: anything');
    const hold = async (tool: string) =>
      (await agent.post('/holds', { key: tool, tool, args: {} })).body;
    expect(await hold('Bash')).toMatchObject({ status: 'allowed' });
    expect(await hold('shop__refund')).toMatchObject({
      status: 'denied',
      reason: 'unknown tool: shop__refund',
    });
    expect(await hold('shop__elsewhere')).toMatchObject({ status: 'allowed' });
  });
});

const views = [
  { for: 'group:support', tools: { allow: ['shop__*'], deny: ['shop__refund'] } },
  { for: ['group:finance', 'claim:team=till'], tools: { allow: ['shop__refund'] } },
  { for: 'cleo@example.com', tools: { allow: ['*__find_*'] } },
];

const people = {
  sue: ['support'],
  finn: ['finance'],
  both: ['support', 'finance'],
  cleo: [],
  nora: undefined,
  // Not a list of texts, so no group at all.
  odd: { support: true },
  list: [['support']],
};

const unknown = (tool: string) => ({
  content: [{ type: 'text', text: `unknown tool: ${tool}` }],
  isError: true,
  _meta: { task_id: expect.any(String) },
});

describe('views of tools', () => {
  it('show each caller its own tools, and none without a view', async () => {
    const agent = await startGateway(await startServers(), { auth: staff(people) }, views);
    const seen = async (name: string) => namesOf(await clientOf(agent, name));
    expect(await seen('sue')).toEqual(['shop__find_order']);
    expect(await seen('finn')).toEqual(['shop__refund']);
    expect(await seen('both')).toEqual(['shop__find_order', 'shop__refund']);
    expect(await seen('cleo')).toEqual(['crm__find_customer', 'shop__find_order']);
    for (const name of ['nora', 'odd', 'list']) expect(await seen(name)).toEqual([]);
    const operator = await mcpClientAt(agent.url, { token: agent.token });
    expect(await namesOf(operator)).toHaveLength(4);
  });

  it('make every other tool an unknown one for the caller', async () => {
    const servers = await startServers();
    const agent = await startGateway(servers, { auth: staff(people) }, views);
    const sue = await clientOf(agent, 'sue');
    const tools = ['shop__refund', 'shop__refunds', 'crm__a__b', 'shop--refund', 'crm__*'];
    for (const tool of tools) expect(await call(sue, tool)).toEqual(unknown(tool));
    expect(textIn(await call(sue, 'shop__find_order'))).toBe('find_order {}');
    // A mistyped name brings up only a name that the caller sees.
    expect(textIn(await call(sue, 'shop__find_ordr'))).toBe(
      'unknown tool: shop__find_ordr; the nearest is shop__find_order',
    );
    const hold = await agent.as('token-of-sue').post('/holds', {
      ...{ key: 'k', tool: 'shop__refund', args: {} },
    });
    expect(hold.body).toMatchObject({ status: 'denied', reason: 'unknown tool: shop__refund' });
    expect([servers.shop.ran, servers.crm.ran]).toEqual([[['find_order', {}]], []]);
  });

  it('do not let a caller join or receive a call of a tool outside its view', async () => {
    const servers = await startServers();
    const defer = { enabled: true, tools: { shop__refund: rule, shop__find_order: rule } };
    // Two tokens of one person, of which only the first has the group.
    const [finance, support] = ['finance', 'support'].map((group) => ({
      type: 'static_token',
      name: group,
      groups_claim: 'groups',
      settings: {
        token: `token-of-${group}`,
        identity: { user_id: 'ann', claims: { groups: [group] } },
      },
    }));
    const agent = await startGateway(
      servers,
      { auth: { required: true, providers: [finance, support] }, security: { defer } },
      views,
    );
    const first = await clientOf(agent, 'finance');
    const held = await call(first, 'shop__refund', { order: 'A-1' });
    const other = await clientOf(agent, 'support');
    expect(await call(other, 'shop__refund', { order: 'A-1' })).toEqual(unknown('shop__refund'));
    const { task_id } = held._meta;
    expect((await call(other, 'task_result', { task_id })).isError).toBe(true);
    await expect(
      other.callTool({
        ...{ name: 'shop__refund', arguments: { order: 'A-1' }, _meta: { task_id } },
      }),
    ).rejects.toThrow(`task ${task_id} is another call`);
    const { deferrals } = (await agent.as('token-of-finance').get('/deferrals')).body;
    expect(deferrals).toHaveLength(1);
    expect(deferrals[0].requests).toBeUndefined();
    expect(servers.shop.ran).toEqual([]);
  });

  it('are checked again when a call is released', async () => {
    const servers = await startServers();
    const defer = { enabled: true, tools: { shop__refund: rule } };
    const folder = new AgentFolder(
      gateway(servers, { auth: staff({ sue: [] }), security: { defer } }, [
        { for: 'group:desk', tools: { allow: ['shop__*'] } },
      ]),
    );
    const write = (groups: object) =>
      writeFileSync(join(folder.path, 'people.yaml'), JSON.stringify({ groups }));
    write({ desk: ['sue@example.com'], archive: ['ann@example.com'] });
    const agent = await started({}, folder);
    const { _meta } = await call(await clientOf(agent, 'sue'), 'shop__refund');
    write({ desk: ['bo@example.com'], archive: ['ann@example.com'] });
    const loaded = () => agent.audit().filter(({ event }) => event === 'people_loaded').length;
    await vi.waitUntil(() => loaded() === 2, patient);
    await agent.as(agent.token).decide(_meta.task_id, ann);
    const { status } = await reached(agent.as(agent.token), _meta.task_id, 'failed');
    expect(status.message.parts[0].text).toBe('unknown tool: shop__refund');
    expect(servers.shop.ran).toEqual([]);
  });
});
