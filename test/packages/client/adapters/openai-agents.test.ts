import { Agent, type Model, type ModelRequest, Runner, tool } from '@openai/agents';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { guardExecute } from '../../../../packages/client/adapters/openai-agents.ts';
import { createGate } from '../../../../packages/client/client.ts';
import { decide, startGate } from '../a-gate.ts';

/** A model that calls Bash once and then answers; it keeps what it read. */
class TestModel implements Model {
  readonly read: ModelRequest['input'][] = [];

  async getResponse({ input }: ModelRequest) {
    this.read.push(structuredClone(input));
    const call = {
      ...{ type: 'function_call', callId: 'call-1', name: 'Bash', status: 'completed' },
      arguments: '{"command":"rm -rf build"}',
    };
    const answer = {
      ...{ type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'done' }],
    };
    const usage: any = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    return { usage, output: [this.read.length === 1 ? call : answer] as any };
  }

  getStreamedResponse(): never {
    throw new Error('not streamed');
  }
}

/** Runs an agent with the guarded tool; resolves with what the model read as its output. */
async function runAgent(url: string, run: (input: { command: string }) => Promise<string>) {
  const model = new TestModel();
  const bash = tool({
    ...{ name: 'Bash', description: 'Runs it.', parameters: z.object({ command: z.string() }) },
    execute: guardExecute(createGate({ url, session: 's-1' }), 'Bash', run),
  });
  const agent = new Agent({ name: 'tester', model, tools: [bash] });
  await new Runner({ tracingDisabled: true }).run(agent, 'go');
  const [output]: any[] = (model.read[1] as any[]).filter(
    ({ type }) => type === 'function_call_result',
  );
  return output.output.text ?? output.output;
}

it('an OpenAI agent tool runs the approved arguments, and the model reads the result', async () => {
  const agent = await startGate();
  const run = vi.fn(async ({ command }: { command: string }) => `ran ${command}`);
  const running = runAgent(agent.url, run);
  const id = await decide(agent, { decision: 'approve', args: { command: 'true' } });
  expect(await running).toBe('ran true');
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    ...{ key: 's-1:call-1', outcome: { status: 'succeeded' } },
  });
});

it('an OpenAI agent tool does not run a rejected call, and the model reads the reason', async () => {
  const agent = await startGate();
  const run = vi.fn(async () => 'ran');
  const running = runAgent(agent.url, run);
  await decide(agent, { decision: 'reject', note: 'no' });
  expect(await running).toBe('Bash did not run: defer: rejected by unknown: no');
  expect(run).not.toHaveBeenCalled();
});

it('an OpenAI agent tool reports its failure', async () => {
  const agent = await startGate();
  const running = runAgent(agent.url, () => Promise.reject(new Error('no such folder')));
  const id = await decide(agent, { decision: 'approve' });
  expect(await running).toBe('An error occurred while running the tool. Please try again.');
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    outcome: { status: 'failed', error: 'Error: no such folder' },
  });
});
