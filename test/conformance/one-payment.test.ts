import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { guardTool } from '../../packages/client/adapters/langchain.ts';
import { createGate } from '../../packages/client/client.ts';
import { hook } from '../../src/cli/hook/hook.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const to = 'channel:console:*';

/** The programs name the tool and its argument differently; the key of the effect is the same (docs/gate.md). */
const settings = {
  gate: { tools: { pay_invoice: {}, mcp__bank__pay: {} } },
  auth: {
    required: true,
    providers: ['langgraph', 'claude', 'ann'].map((name) => ({
      ...{ type: 'static_token', name, decide: name === 'ann' },
      settings: {
        token: tokenOf(name),
        identity: { user_id: name, email: `${name}@example.com` },
      },
    })),
  },
  security: {
    defer: {
      enabled: true,
      bind_approver: true,
      tools: { pay_invoice: { to, timeout: '1h' } },
    },
    effects: {
      pay_invoice: { key: 'pay:{args.invoice}', within: '30d' },
      mcp__bank__pay: { key: 'pay:{args.invoice_id}', within: '30d' },
    },
  },
} as unknown as ServiceSettings;

function tokenOf(name: string): string {
  return `token-of-${name}-0123456789abcdef`;
}

/** Resolves with the call that waits, once there is one. */
async function waitingIn(agent: TestAgent): Promise<any> {
  const { deferrals } = (await agent.as(tokenOf('ann')).get('/deferrals')).body;
  if (deferrals.length > 0) return deferrals[0];
  await new Promise(setImmediate);
  return waitingIn(agent);
}

it('an invoice that LangGraph and Claude Code both want to pay is paid once, and the second approver sees the first call', async () => {
  const agent = await startTestAgent(settings);
  const ann = agent.as(tokenOf('ann'));
  const pay = vi.fn(async (_: { invoice: string; amount: number }) => 'paid');
  const invoices = tool(pay, {
    ...{ name: 'pay_invoice', description: 'Pays an invoice.' },
    schema: z.object({ invoice: z.string(), amount: z.number() }),
  });
  const gate = createGate({ url: agent.url, token: tokenOf('langgraph') });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([guardTool(gate, invoices)]))
    .addEdge('__start__', 'tools')
    .compile();
  const args = { invoice: 'INV-7', amount: 120 };
  const calls = [{ name: 'pay_invoice', args, id: 'call-1', type: 'tool_call' as const }];
  const running = graph.invoke({ messages: [new AIMessage({ content: '', tool_calls: calls })] });
  const first = await waitingIn(agent);
  expect(first.first).toBeUndefined();
  await ann.post(`/holds/${first.task_id}/decisions`, { decision: 'approve' });
  expect((await running).messages.at(-1)?.content).toBe('paid');

  const event = {
    ...{ hook_event_name: 'PreToolUse', session_id: 's-1', tool_use_id: 'toolu_01', cwd: '/app' },
    ...{ tool_name: 'mcp__bank__pay', tool_input: { invoice_id: 'INV-7', eur: '120.00' } },
  };
  const stdin = (async function* () {
    yield JSON.stringify(event);
  })();
  const env = { SERVICE_TOKEN: tokenOf('claude') };
  const blocked = hook(['claude-code', '--url', agent.url], { stdin, env });
  const second = await waitingIn(agent);
  expect(second).toMatchObject({
    ...{ tool: 'mcp__bank__pay', requester: { email: 'claude@example.com' } },
    first: {
      ...{ task_id: first.task_id, key: 'pay:INV-7', outcome: 'succeeded' },
      requested_by: { user_id: 'langgraph', email: 'langgraph@example.com' },
      ...{ at: expect.any(String), released_by: 'ann@example.com' },
    },
  });
  const rejection = { decision: 'reject', note: 'INV-7 is paid' };
  await ann.post(`/holds/${second.task_id}/decisions`, rejection);
  expect(JSON.parse((await blocked).stdout)).toEqual({
    hookSpecificOutput: {
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
      permissionDecisionReason: 'the call may not run: rejected by ann@example.com: INV-7 is paid',
    },
  });
  expect(pay).toHaveBeenCalledTimes(1);
});
