import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listed } from '../actors/tools/mcp/puppet.ts';
import { stateIn, taskServer } from '../actors/tools/mcp/task-server.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { runAgent } from '../helpers/agent-process.ts';
import { mcpClientAt } from '../helpers/mcp-client.ts';
import { keys, startModelServer, wires } from '../helpers/model-server.ts';
import { patient } from '../helpers/patient.ts';
import { launchAgent, reached, type TestAgent, textOf } from '../helpers/test-agent.ts';

type Works = Awaited<ReturnType<typeof taskServer>>;

const form = {
  type: 'object',
  properties: {
    amount: { type: 'integer', minimum: 1, title: 'Amount' },
    currency: { type: 'string', enum: ['EUR', 'USD'], default: 'EUR' },
  },
  required: ['amount'],
};
const message = 'How much is it?';
const question = { method: 'elicitation/create', params: { message, requestedSchema: form } };
const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** Asks for the amount, and returns the answer. */
const asking = ({ inputResponses, requestState }: any) =>
  inputResponses === undefined
    ? { resultType: 'input_required', inputRequests: { q: question }, requestState: 's-1' }
    : text([inputResponses, requestState]);

const rule = { to: 'channel:console:desk', timeout: '5m', edit: true };

function settingsOf(server: object, defer: object = {}): ServiceSettings {
  return {
    mcp: { servers: [{ name: 'works', tools: { deny: [] }, elicitation: 'ask', ...server }] },
    security: { defer: { enabled: true, tools: { works__elicitation: rule }, ...defer } },
  } as ServiceSettings;
}

function httpSettings({ url }: Works, more: object = {}, defer: object = {}): ServiceSettings {
  const { port } = new URL(url);
  const egress = { allowed_private: [`127.0.0.1:${port}`] };
  return { egress, ...settingsOf({ url, ...more }, defer) };
}

async function started(folder: AgentFolder): Promise<TestAgent> {
  const agent = await launchAgent({}, { folder });
  onTestFinished(() => agent.close());
  return agent;
}

const send = (agent: Pick<TestAgent, 'post'>, id: string, tool: string, args: object = {}) =>
  agent.post('/tasks/send', {
    task: {
      id,
      message: {
        parts: [{ kind: 'data', data: { script: [{ tool, args }, { say: '{result}' }] } }],
      },
    },
  });

/** The questions that wait. */
const questions = async (agent: Pick<TestAgent, 'get'>) =>
  vi.waitUntil(async () => {
    const { deferrals } = (await agent.get('/deferrals')).body;
    return deferrals.length === 0 ? null : deferrals;
  }, patient);

const args = { message, form };

describe('a question of an MCP server during a call', () => {
  it('is shown to the approvers of its rule, and their fields are the answer', async () => {
    const works = await taskServer('2026-07-28', { 'tools/call': asking });
    const agent = await started(new AgentFolder(httpSettings(works)));
    const sent = send(agent, 't1', 'works__look');
    const [held, ...others] = await questions(agent);
    expect([held.tool, held.to, others]).toEqual([
      'works__elicitation',
      'channel:console:desk',
      [],
    ]);
    const shown = (await agent.get(`/deferrals/${held.id}`)).body;
    expect(shown.args).toEqual(args);
    expect(shown.args_schema.properties).toMatchObject({
      message: { type: 'string' },
      'answer.amount': { type: 'integer', minimum: 1, description: 'Amount' },
      'answer.currency': { type: 'string', enum: ['EUR', 'USD'], default: 'EUR' },
    });
    expect(shown.args_schema.required).toEqual(['message', 'answer.amount']);
    expect(shown.context).toContain('context={"task":"t1","call":"works__look"}');
    const waiting = (await agent.get('/tasks/t1')).body;
    expect([waiting.status.state, waiting.metadata.waits]).toEqual([
      'deferred',
      { at: 'works__elicitation', for: 'channel:console:desk', until: expect.any(String) },
    ]);
    const decision = { decision: 'approve', approver: 'ann@example.com' };
    const { task_id: id } = held;
    const wrong = await agent.decide(id, {
      ...decision,
      args: { ...args, answer: { amount: 'much' } },
    });
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      expect.stringContaining('the field amount has another form; see its schema'),
    ]);
    await agent.decide(id, {
      ...decision,
      args: { ...args, answer: { amount: 4, currency: 'USD' }, 'answer.amount': 5 },
    });
    const answer = { q: { action: 'accept', content: { currency: 'USD', amount: 5 } } };
    expect(textOf(await sent)).toBe(JSON.stringify([answer, 's-1']));
    expect((await agent.get('/deferrals')).body.deferrals).toEqual([]);
    expect(works.asked.at(-1)?.params._meta['io.modelcontextprotocol/clientCapabilities']).toEqual({
      extensions: { 'io.modelcontextprotocol/tasks': {} },
      elicitation: { form: {}, url: {} },
    });
  });

  it.each([
    ['a rejection', { decision: 'reject' }, { action: 'decline' }],
    ['an approval without its required fields', { decision: 'approve' }, { action: 'cancel' }],
  ])('is answered by %s without fields', async (_, decision, answer) => {
    const works = await taskServer('2026-07-28', { 'tools/call': asking });
    const agent = await started(new AgentFolder(httpSettings(works)));
    const sent = send(agent, 't1', 'works__look');
    const [held] = await questions(agent);
    await agent.decide(held.task_id, { ...decision, approver: 'ann@example.com' });
    expect(textOf(await sent)).toBe(JSON.stringify([{ q: answer }, 's-1']));
  });

  it('is canceled on a timeout', async () => {
    const works = await taskServer('2026-07-28', { 'tools/call': asking });
    const tools = { works__elicitation: { ...rule, timeout: '1s' } };
    const agent = await started(new AgentFolder(httpSettings(works, {}, { tools })));
    expect(textOf(await send(agent, 't1', 'works__look'))).toBe(
      JSON.stringify([{ q: { action: 'cancel' } }, 's-1']),
    );
  });

  it('shows an address, which the daemon does not open', async () => {
    const url = 'http://127.0.0.1:1/sign-in?state=7';
    const params = { mode: 'url', message: 'Sign in.', url };
    const works = await taskServer('2026-07-28', {
      'tools/call': (call) =>
        call.inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { q: { ...question, params } } }
          : text(call.inputResponses),
    });
    const agent = await started(new AgentFolder(httpSettings(works)));
    const sent = send(agent, 't1', 'works__look');
    const [held] = await questions(agent);
    const shown = (await agent.get(`/deferrals/${held.id}`)).body;
    expect(shown.args).toEqual({ message: 'Sign in.', url });
    await agent.decide(held.task_id, { decision: 'approve', approver: 'ann@example.com' });
    expect(textOf(await sent)).toBe(JSON.stringify({ q: { action: 'accept' } }));
    expect(agent.audit().filter(({ event }) => event === 'egress_blocked')).toEqual([]);
  });

  it('is withdrawn when the task of its call is canceled', async () => {
    const works = await taskServer('2026-07-28', { 'tools/call': asking });
    const agent = await started(new AgentFolder(httpSettings(works)));
    const sent = send(agent, 't1', 'works__look');
    await questions(agent);
    await agent.post('/tasks/t1/cancel');
    await sent;
    await vi.waitFor(
      async () => expect((await agent.get('/deferrals')).body.deferrals).toEqual([]),
      patient,
    );
  });

  it('is not restarted when its server is lost, and the call is not repeated', async () => {
    const works = await taskServer('2026-07-28', { 'tools/call': asking });
    const agent = await started(new AgentFolder(httpSettings(works, { timeout: '5s' })));
    const sent = send(agent, 't1', 'works__look');
    const [held] = await questions(agent);
    works.turn(true);
    works.plays['server/discover'] = () => {
      throw new Error('closed');
    };
    await agent.decide(held.task_id, { decision: 'reject', approver: 'ann@example.com' });
    expect(textOf(await sent)).toBe('works__look failed: its server answered with HTTP 503');
    expect(works.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('is none when the server only requests a retry', async () => {
    const works = await taskServer('2026-07-28', {
      'tools/call': ({ requestState }) =>
        requestState === undefined
          ? { resultType: 'input_required', requestState: 's-1' }
          : text(requestState),
    });
    const agent = await started(new AgentFolder(httpSettings(works)));
    expect(textOf(await send(agent, 't1', 'works__look'))).toBe('"s-1"');
  });

  it('shows no credential of the agent', async () => {
    const params = { message: 'Is sesame-open right?', requestedSchema: form };
    const works = await taskServer('2026-07-28', {
      'tools/call': ({ inputResponses }) =>
        inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { q: { ...question, params } } }
          : text('seen'),
    });
    const headers = { authorization: 'Bearer sesame-open' };
    const agent = await started(new AgentFolder(httpSettings(works, { headers })));
    const sent = send(agent, 't1', 'works__look');
    const [held] = await questions(agent);
    expect(JSON.stringify(held)).not.toContain('sesame-open');
    await agent.decide(held.task_id, { decision: 'reject', approver: 'ann@example.com' });
    await sent;
  });

  it.each([
    ['a question to a model', { method: 'sampling/createMessage', params: { messages: [] } }],
    [
      'a form within a form',
      {
        ...question,
        params: { message, requestedSchema: { type: 'object', properties: { a: form } } },
      },
    ],
    [
      'an address of another scheme',
      { ...question, params: { mode: 'url', message, url: 'file:///etc/passwd' } },
    ],
  ])('is refused if it is %s', async (_, request) => {
    const works = await taskServer('2026-07-28', {
      'tools/call': () => ({ resultType: 'input_required', inputRequests: { q: request } }),
    });
    const agent = await started(new AgentFolder(httpSettings(works)));
    expect(textOf(await send(agent, 't1', 'works__look'))).toBe(
      'works__look failed: its server asks for input, which the agent refuses',
    );
    expect((await agent.get('/deferrals')).body.deferrals).toEqual([]);
  });

  it('cannot be repeated without end', async () => {
    let questions_ = 0;
    const works = await taskServer('2026-07-28', {
      'tools/call': () => {
        questions_ += 1;
        const url = `https://example.com/${questions_}`;
        const params = { mode: 'url', message, url };
        return { resultType: 'input_required', inputRequests: { q: { ...question, params } } };
      },
    });
    const agent = await started(new AgentFolder(httpSettings(works)));
    const sent = send(agent, 't1', 'works__look');
    for (let at = 0; at < 10; at += 1) {
      const [held] = await questions(agent);
      await agent.decide(held.task_id, { decision: 'approve', approver: 'ann@example.com' });
    }
    expect(textOf(await sent)).toMatch(/^works__look failed: its server asks/);
  });

  it('cannot be asked by the model or a client in the name of the server', async () => {
    const works = await taskServer('2026-07-28');
    const agent = await started(new AgentFolder({ ...httpSettings(works), server: { mcp: true } }));
    expect(textOf(await send(agent, 't1', 'works__elicitation', args))).toBe(
      'unknown tool: works__elicitation',
    );
    expect(
      (await agent.post('/holds', { key: 'k', tool: 'works__elicitation', args })).status,
    ).toBe(404);
    const client = await mcpClientAt(agent.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('works__look');
    expect(tools.map(({ name }) => name)).not.toContain('works__elicitation');
    expect((await agent.get('/deferrals')).body.deferrals).toEqual([]);
  });

  it('is no tool that a model is offered', async () => {
    const works = await taskServer('2026-07-28');
    const mock = await startModelServer();
    mock.on({ userMessage: 'hello' }, { content: 'Hello.' });
    const { egress, ...settings } = httpSettings(works) as {
      egress: { allowed_private: string[] };
    };
    const allowed_private = [...egress.allowed_private, new URL(mock.url).host];
    const model = { name: 'm', ...wires['openai-compatible'](mock.url) };
    const folder = new AgentFolder({ ...settings, egress: { allowed_private }, model });
    const agent = await launchAgent({}, { folder, env: keys });
    onTestFinished(() => agent.close());
    const parts = [{ kind: 'text', text: 'hello' }];
    expect(
      textOf(await agent.post('/tasks/send', { task: { id: 't1', message: { parts } } })),
    ).toBe('Hello.');
    const offered = JSON.stringify(mock.getRequests().at(-1)?.body);
    expect([offered.includes('works__look'), offered.includes('elicitation')]).toEqual([
      true,
      false,
    ]);
  });

  it('of a task is asked once, also after a restart, and its answer is sent to the task', async () => {
    const works = await taskServer('2026-07-28', {
      'tasks/get': ({ taskId }) =>
        stateIn('2026-07-28', taskId, { status: 'input_required', inputRequests: { q: question } }),
      'tasks/update': () => ({}),
    });
    const folder = new AgentFolder(httpSettings(works, {}, { on_restart: 'resume' }));
    onTestFinished(() => folder.remove());
    const first = await runAgent(folder);
    send(first, 't1', 'works__build').catch(() => undefined);
    const [before] = await questions(first);
    await first.kill();
    const second = await runAgent(folder);
    await vi.waitUntil(async () => (await second.get('/tasks/t1')).body.metadata?.waits, patient);
    const held = await questions(second);
    expect(held.map(({ task_id: id }: { task_id: string }) => id)).toEqual([before.task_id]);
    works.plays['tasks/update'] = ({ taskId, inputResponses }) => {
      works.plays['tasks/get'] = () =>
        stateIn('2026-07-28', taskId, { status: 'completed', result: text(inputResponses) });
      return {};
    };
    const answer = { amount: 7 };
    await second.decide(before.task_id, {
      decision: 'approve',
      approver: 'ann@example.com',
      args: { ...args, answer },
    });
    const ended = await reached(second, 't1', 'completed');
    expect(textOf({ body: ended })).toBe(
      JSON.stringify({ q: { action: 'accept', content: { currency: 'EUR', ...answer } } }),
    );
  });

  it('of a server of 2025 is answered on its connection', async () => {
    const folder = new AgentFolder({
      egress: { writable: ['work'] },
      ...settingsOf({ command: 'node', args: ['puppet/server.mjs'] }),
    });
    for (const name of ['puppet', 'work']) mkdirSync(join(folder.path, name));
    const source = join(import.meta.dirname, '../actors/tools/mcp/puppet-server.mjs');
    copyFileSync(source, join(folder.path, 'puppet', 'server.mjs'));
    const tools = [listed('question'), listed('echo')];
    writeFileSync(join(folder.path, 'work', 'tools.json'), JSON.stringify({ tools }));
    const agent = await started(folder);
    const sent = send(agent, 't1', 'works__question', { message, requestedSchema: form });
    const [held] = await questions(agent);
    await agent.decide(held.task_id, {
      decision: 'approve',
      approver: 'ann@example.com',
      args: { ...args, answer: { amount: 3 } },
    });
    expect(textOf(await sent)).toBe('{"action":"accept","content":{"currency":"EUR","amount":3}}');
  });
});
