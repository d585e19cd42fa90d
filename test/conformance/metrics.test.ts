import { expect, it } from 'vitest';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

/** The lines of the metrics whose name begins like this, samples alone. */
async function linesOf(agent: TestAgent, beginning: RegExp): Promise<string[]> {
  const { body } = await agent.get('/metrics');
  return String(body)
    .split('\n')
    .filter((line) => beginning.test(line));
}

it('count the tasks of each state, and those that wait', async () => {
  const agent = await startTestAgent(deferring());
  await agent.send('done', [{ say: 'hi' }]);
  await agent.send('broken', [{ tool: 'ghost' }]);
  const held = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
  await agent.reached('held', 'deferred');
  const lines = () => linesOf(agent, /^holdpoint_(tasks|deferrals|admission)/);
  expect(await lines()).toEqual([
    'holdpoint_deferrals_pending 1',
    'holdpoint_tasks{state="submitted"} 0',
    'holdpoint_tasks{state="working"} 0',
    'holdpoint_tasks{state="deferred"} 1',
    'holdpoint_tasks{state="completed"} 1',
    'holdpoint_tasks{state="failed"} 1',
    'holdpoint_tasks{state="canceled"} 0',
    'holdpoint_tasks_of_other_releases 0',
    'holdpoint_tasks_live 1',
    'holdpoint_admission_fallbacks_total 0',
  ]);
  await agent.decide('held', { decision: 'approve' });
  await held;
  expect(await lines()).toContain('holdpoint_tasks{state="completed"} 2');
});

it('count the tool calls that ended, also those from before anybody asked', async () => {
  const agent = await startTestAgent();
  await agent.send('one', [{ tool: 'echo' }, { tool: 'break' }, { say: 'done' }]);
  const calls = () => linesOf(agent, /^holdpoint_tool_calls_total/);
  expect(await calls()).toEqual([
    'holdpoint_tool_calls_total{tool="echo",outcome="returned"} 1',
    'holdpoint_tool_calls_total{tool="break",outcome="failed"} 1',
  ]);
  await agent.send('two', [{ tool: 'echo' }, { say: 'done' }]);
  expect(await calls()).toEqual([
    'holdpoint_tool_calls_total{tool="echo",outcome="returned"} 2',
    'holdpoint_tool_calls_total{tool="break",outcome="failed"} 1',
  ]);
});

it('tell how long decisions took, each wait once, by how it ended', async () => {
  const agent = await startTestAgent(deferring({ timeout: '150ms' }));
  const counts = () => linesOf(agent, /^holdpoint_decision_latency_seconds_count/);
  const script = [{ tool: 'pay' }, { say: 'paid' }];
  await agent.send('late', script);
  expect(await counts()).toEqual([
    'holdpoint_decision_latency_seconds_count{decision="timeout"} 1',
  ]);
  const [sum = ''] = await linesOf(agent, /^holdpoint_decision_latency_seconds_sum/);
  expect(Number(sum.split(' ')[1])).toBeGreaterThanOrEqual(0.15);
});

it('count a wait that two people ended as one approval', async () => {
  const agent = await startTestAgent(
    deferring({ quorum: 2, approvers: ['ada@example.com', 'bo@example.com'] }),
  );
  const script = [{ tool: 'pay' }, { say: 'paid' }];
  const counts = () => linesOf(agent, /^holdpoint_decision_latency_seconds_count/);
  const paid = agent.send('paid', script);
  await agent.reached('paid', 'deferred');
  await agent.decide('paid', { decision: 'approve', approver_email: 'ada@example.com' });
  expect(await counts()).toEqual([]);
  await agent.decide('paid', { decision: 'approve', approver_email: 'bo@example.com' });
  await paid;
  const refused = agent.send('refused', script);
  await agent.reached('refused', 'deferred');
  await agent.decide('refused', { decision: 'reject', approver_email: 'ada@example.com' });
  await refused;
  const canceled = agent.send('canceled', script);
  await agent.reached('canceled', 'deferred');
  await agent.post('/tasks/canceled/cancel', {});
  await canceled;
  expect(await counts()).toEqual([
    'holdpoint_decision_latency_seconds_count{decision="approve"} 1',
    'holdpoint_decision_latency_seconds_count{decision="reject"} 1',
    'holdpoint_decision_latency_seconds_count{decision="abandoned"} 1',
  ]);
});

it('tell how requests went, those that were refused at once among them', async () => {
  const agent = await startTestAgent();
  const count = async () => linesOf(agent, /^holdpoint_http_request_duration_seconds_count/);
  expect(await count()).toEqual([]);
  await agent.send('one', [{ say: 'hi' }]);
  await agent.get('/tasks/ghost');
  await agent.get('/nothing');
  await agent.as('wrong').get('/tasks');
  await agent.rpc('tasks/destroy', {});
  const name = 'holdpoint_http_request_duration_seconds_count';
  expect((await count()).toSorted()).toEqual([
    `${name}{route="/",code="200",outcome="refused"} 1`,
    `${name}{route="/metrics",code="200",outcome="ok"} 1`,
    `${name}{route="/tasks",code="401",outcome="refused"} 1`,
    `${name}{route="/tasks/send",code="200",outcome="ok"} 1`,
    `${name}{route="/tasks/{id}",code="404",outcome="refused"} 1`,
    `${name}{route="other",code="404",outcome="refused"} 1`,
  ]);
});

it('tell how calls to models went, and what they took', async () => {
  const agent = await startTestAgent();
  await agent.send('one', [{ tool: 'echo' }, { say: 'hi' }]);
  expect(await linesOf(agent, /^holdpoint_model_(call_duration_seconds_count|tokens)/)).toEqual([
    'holdpoint_model_call_duration_seconds_count{provider="scripted",model="demo",outcome="answered"} 2',
    'holdpoint_model_tokens_total{provider="scripted",model="demo",direction="input"} 0',
    'holdpoint_model_tokens_total{provider="scripted",model="demo",direction="output"} 0',
  ]);
});

it('have names that Prometheus takes for their kinds', async () => {
  const agent = await startTestAgent();
  const types = await linesOf(agent, /^# TYPE /);
  expect(types.filter((line) => line.endsWith('_total gauge'))).toEqual([]);
});
