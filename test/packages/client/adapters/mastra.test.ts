import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { guardExecute } from '../../../../packages/client/adapters/mastra.ts';
import { createGate } from '../../../../packages/client/client.ts';
import { decide, startGate } from '../a-gate.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls Bash once and then answers. */
function aModel() {
  const chunks: any[][] = [
    [
      {
        ...{ type: 'tool-call', toolCallId: 'call-1', toolName: 'Bash' },
        input: '{"command":"rm -rf build"}',
      },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
    ],
    [
      ...[
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'done' },
      ],
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
    ],
  ];
  return new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunks.shift()! }) }),
  });
}

/** Runs an agent with the guarded tool; resolves with what the model read as its output. */
async function runAgent(url: string, run: (input: { command: string }) => Promise<string>) {
  const model: any = aModel();
  const bash = createTool({
    ...{ id: 'Bash', description: 'Runs it.', inputSchema: z.object({ command: z.string() }) },
    execute: guardExecute(createGate({ url, session: 's-1' }), 'Bash', run),
  });
  const agent = new Agent({
    ...{ id: 'tester', name: 'tester', instructions: 'go', model, tools: { Bash: bash } },
  });
  const stream = await agent.stream('go', { maxSteps: 2 });
  await stream.consumeStream();
  const last: any = model.doStreamCalls.at(-1)?.prompt.at(-1);
  return JSON.stringify(last.content[0].output);
}

it('a Mastra tool runs the approved arguments, and the model reads the result', async () => {
  const agent = await startGate();
  const run = vi.fn(async ({ command }: { command: string }) => `ran ${command}`);
  const running = runAgent(agent.url, run);
  const id = await decide(agent, { decision: 'approve', args: { command: 'true' } });
  expect(await running).toContain('ran true');
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    ...{ key: 's-1:call-1', outcome: { status: 'succeeded' } },
  });
});

it('a Mastra tool does not run a rejected call, and the model reads the reason', async () => {
  const agent = await startGate();
  const run = vi.fn(async () => 'ran');
  const running = runAgent(agent.url, run);
  await decide(agent, { decision: 'reject', note: 'no' });
  expect(await running).toContain('Bash did not run: defer: rejected by unknown: no');
  expect(run).not.toHaveBeenCalled();
});
