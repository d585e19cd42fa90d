import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AIMessage } from '@langchain/core/messages';
import { DynamicTool, tool } from '@langchain/core/tools';
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  guardTool,
  type LangChainOptions,
} from '../../../../packages/client/adapters/langchain.ts';
import { createGate } from '../../../../packages/client/client.ts';
import { RawReceiver } from '../../../actors/channels/webhook/raw-receiver.ts';
import { AgentFolder, type ServiceSettings } from '../../../helpers/agent-folder.ts';
import { startInFolder } from '../../../helpers/test-agent.ts';
import { decide, startGate, waitingIn } from '../a-gate.ts';

const schema = z.object({ command: z.string() });

/** The message of a model that calls Bash. */
function callOf(command: string) {
  const calls = [{ name: 'Bash', args: { command }, id: 'call-1', type: 'tool_call' as const }];
  return { messages: [new AIMessage({ content: '', tool_calls: calls })] };
}

/** A graph whose only node runs the guarded tool. */
function graphWith(
  url: string,
  run: (args: { command: string }) => unknown,
  options?: LangChainOptions,
) {
  const bash = tool(async (args) => run(args), { name: 'Bash', description: 'Runs it.', schema });
  const guarded = guardTool(createGate({ url }), bash, options);
  return new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([guarded]))
    .addEdge('__start__', 'tools')
    .compile({ checkpointer: new MemorySaver() });
}

const thread = { configurable: { thread_id: 'thread-1' } };

const contentOf = (state: { messages: { content: unknown }[] }) => state.messages.at(-1)?.content;

it('a LangChain tool runs the approved arguments, and its key is the thread and the call', async () => {
  const agent = await startGate();
  const run = vi.fn(({ command }: { command: string }) => `ran ${command}`);
  const running = graphWith(agent.url, run).invoke(callOf('rm -rf build'), thread);
  const id = await decide(agent, { decision: 'approve', args: { command: 'true' } });
  expect(contentOf(await running)).toBe('ran true');
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    ...{ key: 'thread-1:call-1', outcome: { status: 'succeeded' } },
  });
});

it('a LangChain tool passes a rejection to the model', async () => {
  const agent = await startGate();
  const run = vi.fn();
  const running = graphWith(agent.url, run).invoke(callOf('rm -rf build'), thread);
  await decide(agent, { decision: 'reject', note: 'no' });
  expect(contentOf(await running)).toContain('Bash did not run: defer: rejected by unknown: no');
  expect(run).not.toHaveBeenCalled();
});

it('a LangChain tool reports its failure', async () => {
  const agent = await startGate();
  const fail = () => Promise.reject(new Error('no such folder'));
  const running = graphWith(agent.url, fail).invoke(callOf('rm -rf build'), thread);
  const id = await decide(agent, { decision: 'approve' });
  expect(contentOf(await running)).toContain('no such folder');
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    outcome: { status: 'failed', error: 'Error: no such folder' },
  });
});

it('a LangChain graph is interrupted while the call waits; a resume without a decision changes nothing', async () => {
  const agent = await startGate();
  const run = vi.fn(({ command }: { command: string }) => `ran ${command}`);
  const graph = graphWith(agent.url, run, { interrupt });
  const waiting: any = await graph.invoke(callOf('rm -rf build'), thread);
  const id = await waitingIn(agent);
  const value = { type: 'holdpoint_hold', tool: 'Bash', hold_id: id, to: 'channel:console:*' };
  expect(waiting.__interrupt__.map((found: any) => found.value)).toMatchObject([value]);
  const forged: any = await graph.invoke(new Command({ resume: { status: 'approved' } }), thread);
  expect(forged.__interrupt__.map((found: any) => found.value)).toMatchObject([value]);
  expect(run).not.toHaveBeenCalled();
  await agent.post(`/holds/${id}/decisions`, { decision: 'approve' });
  expect(contentOf(await graph.invoke(new Command({ resume: true }), thread))).toBe(
    'ran rm -rf build',
  );
  expect(run).toHaveBeenCalledTimes(1);
  expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
    outcome: { status: 'succeeded' },
  });
});

it('a LangChain graph resumes when the webhook of the gate reports the decision', async () => {
  const receiver = await RawReceiver.open();
  const defer = { enabled: true, tools: { Bash: { to: 'channel:webhook:ops' } } };
  const settings = { gate: { tools: { Bash: {} } }, channels: ['webhook'], security: { defer } };
  const folder = new AgentFolder(settings as ServiceSettings);
  onTestFinished(() => folder.remove());
  const url = `http://127.0.0.1:${receiver.port}/ops`;
  const targets = { ops: { url, secret_env: 'OPS_WEBHOOK_SECRET' } };
  const config = JSON.stringify({ adapter: 'webhook', settings: { targets } });
  writeFileSync(join(folder.path, 'webhook-config.yaml'), config);
  const agent = await startInFolder(folder, { OPS_WEBHOOK_SECRET: 'k'.repeat(32) });
  const graph = graphWith(agent.url, ({ command }) => `ran ${command}`, { interrupt });
  await graph.invoke(callOf('rm -rf build'), thread);
  const id = await decide(agent, { decision: 'approve' });
  const decided = await vi.waitUntil(
    () =>
      receiver.posts
        .map(({ body }) => JSON.parse(String(body)))
        .find(({ type }) => type === 'approval.approved'),
    { timeout: 15_000, interval: 5 },
  );
  expect(decided.data.task_id).toBe(id);
  const state = await graph.invoke(new Command({ resume: decided.data.task_id }), thread);
  expect(contentOf(state)).toBe('ran rm -rf build');
});

it('a LangChain tool does not run a call twice that a killed process received', async () => {
  const agent = await startGate();
  const key = 'thread-1:call-1';
  const held = createGate({ url: agent.url }).hold({
    ...{ tool: 'Bash', args: { command: 'rm -rf build' }, key, session: 'thread-1' },
  });
  await decide(agent, { decision: 'approve' });
  await held;
  const run = vi.fn();
  const state = await graphWith(agent.url, run).invoke(callOf('rm -rf build'), thread);
  expect(contentOf(state)).toContain('an earlier process received this call');
  expect(run).not.toHaveBeenCalled();
});

it('a LangChain tool with a string input is held, and the given tool is not changed', async () => {
  const agent = await startGate({
    gate: { tools: { Bash: {} } },
    security: {
      defer: { enabled: true, tools: { Bash: { to: 'channel:console:*', edit: true } } },
    },
  });
  const func = vi.fn(async (input: string) => `ran ${input}`);
  const bash = new DynamicTool({ name: 'Bash', description: 'Runs it.', func });
  const running = guardTool(createGate({ url: agent.url }), bash).invoke('rm -rf build');
  await decide(agent, { decision: 'approve', args: { input: 'true' } });
  expect(await running).toBe('ran true');
  expect(await bash.invoke('ls')).toBe('ran ls');
});
