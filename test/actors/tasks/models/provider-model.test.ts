import { describe, expect, it } from 'vitest';
import type { Conversation } from '../../../../src/actors/ports/model.ts';
import type { Tool } from '../../../../src/actors/ports/tool.ts';
import { loadProvider } from '../../../../src/actors/providers/providers.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';
import { createProviderModel } from '../../../../src/actors/tasks/models/provider-model.ts';
import { SharedTurns } from '../../../../src/actors/tasks/models/shared-turns.ts';

const text = { type: 'string' };

const list: Tool = {
  name: 'shop__files.list',
  description: 'x'.repeat(2_000),
  parameters: { type: 'object', properties: { $filter: text, a: text } },
  idempotent: false,
  run: async () => '',
};

const conversation: Conversation = {
  taskId: 't-1',
  history: [],
  request: { role: 'user', parts: [{ kind: 'text', text: 'list them' }], messageId: 'm-1' },
  ...{ exchanges: [], said: [], followUps: [], turns: 0 },
};

/** Runs one turn at a provider with configured answers, and returns what it was sent. */
async function asked(provider: 'openai' | 'openai-compatible', answer: (body: any) => Response) {
  let body: any;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    body = JSON.parse(String(init?.body));
    return answer(body);
  };
  const address = 'http://model.test/v1';
  const model = createProviderModel({
    subject: { provider, model: 'm', address, keyVariable: null },
    ...{ api: 'chat', timeout: 5_000, turns: new SharedTurns(8), clock: systemClock() },
    load: () => loadProvider({ provider, baseURL: address, apiKey: 'key', fetch }),
    tools: () => [list],
    instructions: () => null,
  });
  const { signal } = new AbortController();
  const turn = await model
    .ask(conversation, { signal, onToken: () => undefined })
    .catch((error: unknown) => (error as Error).message);
  return { sent: body.tools[0].function, turn };
}

function called(name: string, args: string): Response {
  const call = { index: 0, id: 'c1', type: 'function', function: { name, arguments: args } };
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = `${chunk({ tool_calls: [call] }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`;
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

describe('a tool that a provider would refuse unchanged', () => {
  it.each([
    ['openai', 1_024],
    ['openai-compatible', 2_000],
  ] as const)('is adapted for %s, and its calls are mapped back', async (provider, length) => {
    const { sent, turn } = await asked(provider, (body) => {
      const { name, parameters } = body.tools[0].function;
      const [filter] = Object.keys(parameters.properties);
      return called(name, JSON.stringify({ [filter ?? '']: 'x', a: 'y' }));
    });
    expect(sent.name).toMatch(/^shop__files_list_[0-9a-f]{16}$/);
    expect(Object.keys(sent.parameters.properties)).toEqual([
      expect.stringMatching(/^_filter_[0-9a-f]{16}$/),
      'a',
    ]);
    expect(sent.description).toHaveLength(length);
    expect(turn).toMatchObject({
      calls: [{ tool: 'shop__files.list', args: { $filter: 'x', a: 'y' } }],
    });
  });

  it('is named where the provider refuses it', async () => {
    const { turn } = await asked('openai', (body) => {
      const message = `Invalid schema for function '${body.tools[0].function.name}': no`;
      return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 });
    });
    expect(turn).toBe(
      'openai m refused the tool shop__files.list (400); fix the schema of its arguments, or take the tool from the agent',
    );
  });
});
