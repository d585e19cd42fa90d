import { describe, expect, it } from 'vitest';
import type { Answer } from '../../helpers/agent-client.ts';
import {
  canaryKey,
  keys,
  startModelServer,
  startRawModel,
  wireNames,
  wires,
} from '../../helpers/model-server.ts';
import { deferring, startTestAgent, story, textOf } from '../../helpers/test-agent.ts';

const ask = (id: string, text: string) => ({
  task: { id, message: { parts: [{ kind: 'text', text }] } },
});

const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  input_tokens: 11,
  output_tokens: 7,
  promptTokenCount: 11,
  candidatesTokenCount: 7,
};

/** What the headers of an answer say of the models. */
function usageOf({ headers }: Pick<Answer, 'headers'>): (string | null)[] {
  const names = ['Tokens-In', 'Tokens-Out', 'Model', 'Duration-Ms'];
  return names.map((name) => headers.get(`X-Service-${name}`));
}

describe.each(wireNames)('an agent with a model on the wire of %s', (wire) => {
  it('holds, releases and runs every tool call by the chart, and counts its tokens', async () => {
    const mock = await startModelServer();
    const toolCalls = [{ name: 'pay', arguments: '{"amount":5}' }];
    mock.on({ userMessage: 'refund', hasToolResult: false }, { toolCalls, usage });
    mock.on({ userMessage: 'refund', hasToolResult: true }, { content: 'It is paid.', usage });
    const model = { name: 'some-model', ...wires[wire](mock.url) };
    const agent = await startTestAgent({ ...deferring(), model }, { env: keys });

    const sent = agent.post('/tasks/send', ask('t1', 'refund me'));
    const waiting = await agent.reached('t1', 'deferred');
    expect(agent.folder.paid).toEqual([]);
    expect(waiting.metadata.deferral).toMatchObject({ tool: 'pay', context: expect.any(String) });
    await agent.decide('t1', { decision: 'approve', approver: 'ann@example.com' });
    const ended = await sent;

    expect([ended.body.status.state, textOf(ended)]).toEqual(['completed', 'It is paid.']);
    expect(agent.folder.paid).toHaveLength(1);
    expect(usageOf(ended)).toEqual(['22', '14', 'some-model', expect.stringMatching(/^\d+$/)]);
    const called = story(agent.audit('t1')).filter(([event]) => event === 'llm_call');
    const { provider } = model;
    // The mock of this wire gives no reason.
    const reason = wire === 'openai responses' ? {} : { finish_reason: expect.any(String) };
    const usual = { provider, model: 'some-model', input_tokens: 11, output_tokens: 7 };
    const fields = { ...usual, ...reason };
    expect(called).toEqual([
      ['llm_call', fields],
      ['llm_call', fields],
    ]);
    const second = JSON.stringify(mock.getRequests().at(-1)?.body);
    expect(second).toContain('{\\"amount\\":5}');
  });

  it('fails a task with one message without the key when the key is refused, and continues', async () => {
    const mock = await startModelServer();
    const refusal = { message: `Incorrect API key provided: ${canaryKey}` };
    mock.on({ userMessage: 'refund' }, { error: refusal, status: 401 });
    mock.on({ userMessage: 'hello' }, { content: 'Hello.' });
    const model = { name: 'some-model', ...wires[wire](mock.url) };
    const agent = await startTestAgent({ model }, { env: keys });

    const failed = await agent.post('/tasks/send', ask('t1', 'refund me'));

    expect([failed.status, failed.body.status.state]).toEqual([200, 'failed']);
    expect(textOf(failed)).toMatch(/\(401\)/);
    const again = await agent.post('/tasks/send', ask('t2', 'hello'));
    expect(textOf(again)).toBe('Hello.');
    const everything = JSON.stringify([failed.body, agent.audit(), agent.log]);
    expect(everything).not.toContain(canaryKey);
  });
});

it.each(['chat', 'responses'])(
  'an openai model is billed to the configured organisation (%s)',
  async (api) => {
    const asked: unknown[] = [];
    const url = await startRawModel((response, { headers }) => {
      asked.push(headers['openai-organization']);
      response.writeHead(401).end();
    });
    const reach = { provider: 'openai', api, base_url: `${url}/v1` };
    for (const organization of [{ organization_id: 'org-42' }, {}]) {
      const model = { name: 'm', ...reach, ...organization };
      const agent = await startTestAgent({ model }, { env: keys });
      await agent.post('/tasks/send', ask('t1', 'hello'));
    }
    expect(asked).toEqual(['org-42', undefined]);
  },
);

describe('the headers of a send', () => {
  it.each(['tasks/send', 'message/send'])(
    'state over JSON-RPC the usage of the models: %s',
    async (method) => {
      const mock = await startModelServer();
      mock.on({ userMessage: 'hello' }, { content: 'Hello.', usage });
      const model = { name: 'some-model', ...wires.anthropic(mock.url) };
      const agent = await startTestAgent({ model }, { env: keys });
      const message = {
        kind: 'message',
        role: 'user',
        messageId: 'm1',
        parts: [{ kind: 'text', text: 'hello' }],
      };
      const answer = await agent.rpc(method, { message });
      expect(answer.body.error).toBeUndefined();
      expect(usageOf(answer)).toEqual(['11', '7', 'some-model', expect.stringMatching(/^\d+$/)]);
    },
  );

  it('state no usage where no model was called', async () => {
    const agent = await startTestAgent();
    expect(usageOf(await agent.get('/tasks'))).toEqual([null, null, null, null]);
  });
});
