import { describe, expect, it } from 'vitest';
import { keys, startModelServer, wireNames, wires } from '../../helpers/model-server.ts';
import { expectIntact, startTestAgent, story, textOf } from '../../helpers/test-agent.ts';

const ask = { task: { id: 't1', message: { parts: [{ kind: 'text', text: 'refund me' }] } } };
const call = (name: string, args: unknown) => ({ name, arguments: JSON.stringify(args) });

/** What fails in the first turn, and what the model reads of it. */
const failures = {
  'a tool that fails': [call('break', {}), 'break failed with exit code 3: the till is stuck'],
  'a tool that there is not': [call('refund', {}), 'unknown tool: refund'],
  'arguments that are no object': [call('pay', [5]), 'the arguments of pay must be an object'],
} as const;

describe.each(wireNames)('a model on the wire of %s', (wire) => {
  it.each(Object.entries(failures))(
    'reads the error of %s and tries another way',
    async (_, [first, error]) => {
      const mock = await startModelServer();
      mock.on({ userMessage: 'refund', turnIndex: 0 }, { toolCalls: [first] });
      mock.on({ userMessage: 'refund', turnIndex: 1 }, { toolCalls: [call('pay', { amount: 5 })] });
      mock.on({ userMessage: 'refund', turnIndex: 2 }, { content: 'It is paid.' });
      const model = { name: 'some-model', ...wires[wire](mock.url) };
      const agent = await startTestAgent({ model }, { env: keys });

      const ended = await agent.post('/tasks/send', ask);

      expect([ended.body.status.state, textOf(ended)]).toEqual(['completed', 'It is paid.']);
      expect(agent.folder.paid).toHaveLength(1);
      expect(JSON.stringify(mock.getRequests()[1]?.body)).toContain(`error: ${error}`);
      await expectIntact(agent.auditPath);
    },
  );
});

it('the log has the end of a failed call, and the rule of a refused one', async () => {
  const mock = await startModelServer();
  const toolCalls = [call('break', {}), call('refund', {})];
  mock.on({ userMessage: 'refund', hasToolResult: false }, { toolCalls });
  mock.on({ userMessage: 'refund', hasToolResult: true }, { content: 'I cannot.' });
  const model = { name: 'm', ...wires.anthropic(mock.url) };
  const agent = await startTestAgent({ model }, { env: keys });
  expect(textOf(await agent.post('/tasks/send', ask))).toBe('I cannot.');
  const told = story(agent.audit('t1')).filter(([event]) => event !== 'llm_call');
  expect(told).toEqual([
    ['session_start'],
    ['tool_exec', { tool: 'break', phase: 'start' }],
    ['tool_exec', { tool: 'break', phase: 'end', outcome: 'failed', error: 'exit code 3' }],
    ['guardrail_check', { gate: 'tool', decision: 'deny', tool: 'refund', rule: 'unknown tool' }],
    ['session_end', { state: 'completed' }],
  ]);
});

it('a call that a guardrail denies ends the run, so no model works around a rule', async () => {
  const mock = await startModelServer();
  mock.on({ userMessage: 'refund' }, { toolCalls: [call('pay', { amount: 5 })] });
  const model = { name: 'm', ...wires.anthropic(mock.url) };
  const guardrails = { enabled: true, denied_tools: ['pay'] };
  const agent = await startTestAgent({ model, security: { guardrails } as object }, { env: keys });
  const ended = await agent.post('/tasks/send', ask);
  expect([ended.body.status.state, textOf(ended)]).toEqual([
    'failed',
    expect.stringMatching(/^denied by guardrail: /),
  ]);
  expect(mock.getRequests()).toHaveLength(1);
  expect(agent.folder.paid).toEqual([]);
});
