import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it, vi } from 'vitest';
import { guardTools } from '../../../../packages/client/adapters/ai-sdk.ts';
import { createGate } from '../../../../packages/client/client.ts';
import { decide, startGate, waitingIn } from '../a-gate.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls Bash once and then says what it read. */
function aModel(command = 'rm -rf build') {
  return new MockLanguageModelV4({
    doGenerate: [
      {
        content: [
          {
            ...{ type: 'tool-call', toolCallId: 'call-1', toolName: 'Bash' },
            input: JSON.stringify({ command }),
          },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        ...{ usage, warnings: [] },
      },
      {
        content: [{ type: 'text', text: 'done' }],
        finishReason: { unified: 'stop', raw: 'stop' },
        ...{ usage, warnings: [] },
      },
    ],
  });
}

const inputSchema = jsonSchema<{ command: string }>({
  ...{ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
});

/** What the model reads as the output of its call. */
function outputIn(model: MockLanguageModelV4): unknown {
  const last: any = model.doGenerateCalls.at(-1)?.prompt.at(-1);
  return last.content[0].output;
}

it('an AI SDK tool runs the approved arguments, and the model reads the result', async () => {
  const agent = await startGate();
  const execute = vi.fn(async ({ command }: { command: string }) => `ran ${command}`);
  const gate = createGate({ url: agent.url, session: 's-1' });
  const tools = guardTools(gate, { Bash: tool({ inputSchema, execute }) });
  const model = aModel();
  const running = generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2) });
  const id = await decide(agent, { decision: 'approve', args: { command: 'true' } });
  expect((await running).text).toBe('done');
  expect(execute.mock.calls.map(([input]) => input)).toEqual([{ command: 'true' }]);
  expect(outputIn(model)).toEqual({ type: 'text', value: 'ran true' });
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    ...{ key: 's-1:call-1', outcome: { status: 'succeeded' } },
  });
});

it('an AI SDK tool does not run a rejected call, and the model reads the reason', async () => {
  const agent = await startGate();
  const execute = vi.fn(async () => 'ran');
  const tools = guardTools(createGate({ url: agent.url }), {
    Bash: tool({ inputSchema, execute }),
  });
  const model = aModel();
  const running = generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2) });
  await decide(agent, { decision: 'reject', note: 'not today' });
  await running;
  expect(execute).not.toHaveBeenCalled();
  expect(outputIn(model)).toEqual({
    ...{
      type: 'error-text',
      value: 'HoldDenied: Bash did not run: defer: rejected by unknown: not today',
    },
  });
});

it('an AI SDK tool does not run a call while the gate is unreachable', async () => {
  const execute = vi.fn(async () => 'ran');
  const gate = createGate({ url: 'http://127.0.0.1:1', timeout: 0 });
  const model = aModel('ls');
  const tools = guardTools(gate, { Bash: tool({ inputSchema, execute }) });
  await generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2) });
  expect(execute).not.toHaveBeenCalled();
  expect(outputIn(model)).toEqual({
    type: 'error-text',
    value: 'GateUnavailable: the gate cannot be reached',
  });
});

it('an AI SDK tool stops waiting when the run is aborted', async () => {
  const agent = await startGate();
  const execute = vi.fn(async () => 'ran');
  const gate = createGate({ url: agent.url });
  const tools = guardTools(gate, { Bash: tool({ inputSchema, execute }) }, { cancelOnAbort: true });
  const leaving = new AbortController();
  const abortSignal = leaving.signal;
  const running = generateText({ model: aModel(), tools, prompt: 'go', abortSignal });
  const id = await waitingIn(agent);
  leaving.abort();
  await running.catch(() => undefined);
  await agent.reached(id, 'canceled');
  expect(execute).not.toHaveBeenCalled();
});

it('an AI SDK tool reports a streaming tool when its stream has ended', async () => {
  const agent = await startGate();
  const execute = async function* () {
    yield 'half';
    yield 'whole';
  };
  const gate = createGate({ url: agent.url, session: 's-1' });
  const model = aModel('ls');
  const tools = guardTools(gate, { Bash: tool({ inputSchema, execute }) });
  await generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2) });
  expect(outputIn(model)).toEqual({ type: 'text', value: 'whole' });
});

it('an AI SDK tool without a local execution is refused', () => {
  const gate = createGate({ url: 'http://127.0.0.1:1' });
  expect(() => guardTools(gate, { Bash: tool({ inputSchema }) })).toThrow(
    new TypeError('the tool Bash has no execute, so its calls cannot be held; leave it out'),
  );
});
