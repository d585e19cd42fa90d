import { expect, it } from 'vitest';
import { keys, startModelServer, wires } from '../../helpers/model-server.ts';
import { startTestAgent, textOf } from '../../helpers/test-agent.ts';

const ask = (text: string) => ({ message: { parts: [{ kind: 'text', text }] } });
const call = (name: string, args: unknown = {}) => ({ name, arguments: JSON.stringify(args) });

/** An agent whose model, behind a real wire, does as the fixtures of the mock say. */
async function agentWith(limits: object) {
  const mock = await startModelServer();
  const model = { name: 'm', ...wires['openai-compatible'](mock.url), ...limits };
  const agent = await startTestAgent({ model }, { env: keys });
  mock.on({ userMessage: 'hello' }, { content: 'Hello.' });
  return { mock, agent };
}

it.each([
  ['an unknown tool', [call('launch')], 'unknown tool: launch'],
  [
    'a tool with a list as its arguments',
    [call('pay', [1])],
    'the arguments of pay must be an object',
  ],
  [
    'too many calls at once',
    Array.from({ length: 101 }, () => call('echo')),
    'openai-compatible m asked for more than 100 calls at once; ask for less at once',
  ],
])(
  'a model that requests %s ends its task with a reason where errors end it, and the next task runs',
  async (_, toolCalls, text) => {
    const { mock, agent } = await agentWith({ on_tool_error: 'fail' });
    mock.on({ userMessage: 'go' }, { toolCalls });
    const failed = await agent.post('/tasks/send', ask('go'));
    expect([failed.status, failed.body.status.state, textOf(failed)]).toEqual([
      200,
      'failed',
      text,
    ]);
    expect(textOf(await agent.post('/tasks/send', ask('hello')))).toBe('Hello.');
    expect(agent.folder.paid).toEqual([]);
  },
);

it('a model that gets only errors is stopped after the allowed turns, and receives each one', async () => {
  const { mock, agent } = await agentWith({ max_failed_turns: 2 });
  mock.on({ userMessage: 'go' }, { toolCalls: [call('break'), call('launch')] });
  const failed = await agent.post('/tasks/send', { task: { id: 't1', ...ask('go') } });
  expect([failed.body.status.state, textOf(failed)]).toEqual([
    'failed',
    'the run was ended after 2 model turns in a row whose calls all failed, the last one with: unknown tool: launch',
  ]);
  expect(mock.getRequests()).toHaveLength(2);
  expect(agent.audit('t1').at(-1)).toMatchObject({
    event: 'session_end',
    fields: { state: 'failed', reason: 'errors_limit' },
  });
});

it.each([
  [
    { max_turns: 3 },
    'the run was ended after 3 model turns without an answer, and its last 3 calls were the same one of echo; give the agent a narrower task, or raise model.max_turns',
    'turns_limit',
    3,
  ],
  [
    { max_tokens_per_task: 40 },
    'the run was ended after 54 tokens, where it may use 40; give the agent a narrower task, or raise model.max_tokens_per_task',
    'tokens_limit',
    2,
  ],
])('a model that never answers is stopped at %j', async (limits, text, reason, runs) => {
  const { mock, agent } = await agentWith(limits);
  const usage = { prompt_tokens: 11, completion_tokens: 7 };
  mock.on({ userMessage: 'go' }, { toolCalls: [call('echo', { n: 1 })], usage });
  const failed = await agent.post('/tasks/send', { task: { id: 't1', ...ask('go') } });
  expect([failed.body.status.state, textOf(failed)]).toEqual(['failed', text]);
  const lines = agent.audit('t1');
  expect(lines.filter(({ fields }) => fields?.['phase'] === 'start')).toHaveLength(runs);
  expect(lines.at(-1)).toMatchObject({ event: 'session_end', fields: { state: 'failed', reason } });
  expect(textOf(await agent.post('/tasks/send', ask('hello')))).toBe('Hello.');
});

it('a model with a small window receives old results in one line, over the wire', async () => {
  const { mock, agent } = await agentWith({ context_budget: 2_000, max_turns: 3 });
  const args = { words: 'x'.repeat(2_000) };
  mock.on({ userMessage: 'go' }, { toolCalls: [call('echo', args)], usage: { prompt_tokens: 0 } });
  await agent.post('/tasks/send', ask('go'));
  const { messages } = mock.getRequests().at(-1)!.body as {
    messages: { role: string; content: string }[];
  };
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  expect(results).toEqual([
    '[result of echo, 2012 characters, left out]',
    expect.stringContaining('xxxx'),
  ]);
  const told = agent.audit().filter(({ event }) => event === 'context_compacted');
  const tokens = { tokens_before: expect.any(Number), tokens_after: expect.any(Number) };
  expect(told.map(({ fields }) => fields)).toEqual([
    { results: 1, messages: 0, turns: 0, ...tokens },
  ]);
});

it('a message above the budget fails its task before the model is called', async () => {
  const { mock, agent } = await agentWith({ context_budget: 1_000 });
  const failed = await agent.post('/tasks/send', ask(`go ${'x'.repeat(8_000)}`));
  expect(textOf(failed)).toMatch(
    /^the conversation is too long: what cannot be omitted takes about 2\d\d\d tokens, and model\.context_budget is 1000; /,
  );
  expect(mock.getRequests()).toEqual([]);
  expect(textOf(await agent.post('/tasks/send', ask('hello')))).toBe('Hello.');
});
