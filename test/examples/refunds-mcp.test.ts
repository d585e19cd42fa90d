import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { load } from 'js-yaml';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { listenOnLoopback } from '../helpers/listen-on-loopback.ts';
import { expectIntact, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

needsBwrap();

const example = join(import.meta.dirname, '../../examples/refunds');
const refund = { order_id: 'A-1042', amount: 89.9, reason: 'arrived broken' };
const ann = { decision: 'approve', approver: 'ann@example.com' };

interface Service {
  security: { defer: { tools: object } };
  [key: string]: unknown;
}

/** The agent of the example, with more in its settings. */
async function refundAgent(more: (service: Service) => object): Promise<TestAgent> {
  const folder = new AgentFolder({});
  cpSync(example, folder.path, { recursive: true });
  const service = load(readFileSync(join(example, 'service.yaml'), 'utf8')) as Service;
  const settings = { ...service, ...more(service) };
  writeFileSync(join(folder.path, 'service.yaml'), JSON.stringify(settings));
  const agent = await launchAgent({}, { folder });
  onTestFinished(() => agent.close());
  return agent;
}

const shown = ({ security }: Service) => ({
  server: { mcp: true },
  security: { ...security, defer: { ...security.defer, on_stream_disconnect: 'keep' } },
});

const orderOf = (agent: TestAgent, id: string) =>
  readFileSync(join(agent.folder.path, 'data/orders.csv'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${id},`));

/** A client of another program. */
async function outsideClient(agent: TestAgent): Promise<Client> {
  const client = new Client({ name: 'outside', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return client;
}

/** Asks for the refund; `progress` is what the client has heard. */
async function ask(client: Client, options: object = {}) {
  const progress: (Progress & { _meta?: { task_id: string } })[] = [];
  const asked = client.callTool({ name: 'issue_refund', arguments: refund }, undefined, {
    onprogress: (told) => void progress.push(told),
    ...options,
  });
  asked.catch(() => undefined);
  await vi.waitUntil(() => progress.length > 0, { timeout: 30_000 });
  return { asked, id: progress[0]?._meta?.task_id ?? '', progress };
}

it('a refund from an outside client is held, and paid once after an approval', async () => {
  const agent = await refundAgent(shown);
  const client = await outsideClient(agent);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['datetime_now', 'lookup_order', 'issue_refund', 'task_result'],
  ]);
  const found = await client.callTool({ name: 'lookup_order', arguments: { order_id: 'A-1042' } });
  expect(JSON.stringify(found.content)).toContain('A-1042');
  const before = orderOf(agent, 'A-1042');

  const { asked, id, progress } = await ask(client);
  expect(progress[0]?.message).toBe(
    `Deferred: awaiting channel:console:* decision on issue_refund (task ${id})`,
  );
  const { deferral } = (await agent.get(`/tasks/${id}`)).body.metadata;
  expect(deferral.context).toContain('issue_refund wants to pay back money: ');
  expect(orderOf(agent, 'A-1042')).toBe(before);

  expect((await agent.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
  const { content, isError, _meta } = await asked;
  expect([JSON.stringify(content), isError, _meta]).toEqual([
    expect.stringContaining('A-1042'),
    undefined,
    { task_id: id },
  ]);
  expect(orderOf(agent, 'A-1042')).not.toBe(before);
  await expectIntact(agent.auditPath);
}, 60_000);

it("a refund is found again by its task after the client's timeout", async () => {
  const agent = await refundAgent(shown);
  const client = await outsideClient(agent);
  const { asked, id } = await ask(client, { timeout: 3_000 });
  await expect(asked).rejects.toThrow('Request timed out');
  await client.close();
  expect((await agent.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
  const paid = await agent.reached(id, 'completed');

  const again = (await outsideClient(agent)).callTool({
    ...{ name: 'issue_refund', arguments: refund },
    _meta: { task_id: id },
  });
  const text = paid.status.message.parts[0].text;
  expect(await again).toEqual({ content: [{ type: 'text', text }], _meta: { task_id: id } });
  const runs = agent.audit().filter(({ event, fields }) => {
    return event === 'tool_exec' && fields?.['phase'] === 'start';
  });
  expect(runs.map(({ fields }) => fields?.['tool'])).toEqual(['issue_refund']);
}, 60_000);

/** A server of another program that pays back; `paid` is what it has paid. */
async function aDesk(): Promise<{ url: string; paid: unknown[] }> {
  const paid: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const desk = new McpServer({ name: 'desk', version: '1' });
    const inputSchema = { order_id: z.string(), amount: z.number() };
    desk.registerTool('pay_back', { description: 'Pays back.', inputSchema }, async (args) => {
      paid.push(args);
      return { content: [{ type: 'text', text: `paid back ${args.amount}` }] };
    });
    const transport = new StreamableHTTPServerTransport({});
    await desk.connect(transport as Parameters<typeof desk.connect>[0]);
    await transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  return { url: `${await listenOnLoopback(server)}/mcp`, paid };
}

it('a refund through a server of another program is held', async () => {
  const { url, paid } = await aDesk();
  const agent = await refundAgent(({ security: { defer, ...security } }) => ({
    mcp: { servers: [{ name: 'desk', url, tools: { allow: ['pay_back'] } }] },
    security: {
      ...security,
      defer: { ...defer, tools: { desk__pay_back: { to: 'channel:console:*', timeout: '5m' } } },
    },
  }));
  const args = { order_id: 'A-1042', amount: 89.9 };
  const script = [
    { tool: 'lookup_order', args: { order_id: 'A-1042' } },
    { tool: 'desk__pay_back', args },
    { say: 'Your order: {result}' },
  ];
  const sent = agent.post('/tasks/send', {
    task: { id: 't1', message: { parts: [{ kind: 'data', data: { script } }] } },
  });
  const { metadata } = await agent.reached('t1', 'deferred');
  expect([metadata.deferral.tool, paid]).toEqual(['desk__pay_back', []]);
  expect((await agent.post('/tasks/t1/decisions', ann)).status).toBe(200);
  expect(textOf(await sent)).toBe('Your order: paid back 89.9');
  expect(paid).toEqual([args]);
  await expectIntact(agent.auditPath);
}, 60_000);
