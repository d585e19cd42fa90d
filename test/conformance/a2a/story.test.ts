import { describe, expect, it } from 'vitest';
import { type AgentClient, playing } from '../../helpers/agent-client.ts';
import {
  type AuditLine,
  deferring,
  expectIntact,
  startTestAgent,
  story,
  type TestAgent,
} from '../../helpers/test-agent.ts';
import { startCollector, traceInto } from '../../helpers/trace-collector.ts';
import { ask, openStream, type WireSurface, wireSurfaces } from './wire-surfaces.ts';

const headers = {
  'X-Workflow-ID': 'refunds',
  'X-Workflow-Execution-ID': 'run-17',
  'X-Workflow-Stage-ID': 'pay',
  'X-Workflow-Step-ID': 'pay-1',
  'X-Invocation-Caller': 'orchestrator.example',
  'X-Service-Org-ID': 'acme',
  'X-Service-Workspace-ID': 'desk',
  'X-Correlation-ID': 'errand-1',
};

const tags = {
  workflow_id: 'refunds',
  workflow_execution_id: 'run-17',
  stage_id: 'pay',
  step_id: 'pay-1',
  invocation_caller: 'orchestrator.example',
  org_id: 'acme',
  workspace_id: 'desk',
  correlation_id: 'errand-1',
};

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** Runs one errand that is held and released, and returns its lines. */
async function errand(send: (agent: TestAgent) => Promise<unknown>): Promise<AuditLine[]> {
  const agent = await startTestAgent(deferring(), { noAuth: true });
  const answer = send(agent);
  await expect
    .poll(async () => (await agent.get('/deferrals')).body.deferrals.length, { timeout: 10_000 })
    .toBe(1);
  const { task_id } = (await agent.get('/deferrals')).body.deferrals[0];
  await agent.decide(task_id, { decision: 'approve', approver: 'ada' });
  await answer;
  await agent.reached(task_id, 'completed');
  await expectIntact(agent.auditPath);
  return agent.audit(task_id);
}

/** The lines without the parts that differ between runs. */
function comparable(lines: AuditLine[]): unknown {
  const told = story(lines);
  const own = lines.filter(({ event }) => event !== 'egress_allowed');
  const text = JSON.stringify(
    told.map((one, index) => [
      one,
      own[index]?.seq,
      Object.fromEntries(Object.keys(tags).map((key) => [key, own[index]?.[key]])),
    ]),
  );
  return JSON.parse(
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'id')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  );
}

describe('a held and released task', () => {
  it('has the same events in the audit log on every surface', async () => {
    const legacy = await errand((agent) =>
      agent.post('/tasks/send', { message: playing(script) }, headers),
    );
    expect(legacy.map(({ event, seq }) => [event, seq])).toEqual([
      ['session_start', 1],
      ['llm_call', 2],
      ['call_ruled', 3],
      ['task_deferred', 4],
      ['task_deferred_decision', expect.any(Number)],
      ['tool_exec', expect.any(Number)],
      ['tool_exec', expect.any(Number)],
      ['llm_call', expect.any(Number)],
      ['session_end', expect.any(Number)],
    ]);
    const decision = legacy.findIndex(({ event }) => event === 'task_deferred_decision');
    for (const line of legacy.toSpliced(decision, 1)) expect(line).toMatchObject(tags);
    for (const surface of wireSurfaces) {
      const message = surface.playing(script);
      const held = await errand((agent) => ask(agent, surface, 'send', { message, headers }));
      expect(comparable(held)).toEqual(comparable(legacy));
      const streamed = await errand(async (agent) =>
        (await openStream(agent, surface, 'stream', { message, headers })).rest(),
      );
      expect(comparable(streamed)).toEqual(comparable(legacy));
    }
  });
});

describe.each(wireSurfaces)('the spans of $name', (surface) => {
  /** Runs requests, and returns the name and status of every span that a request has. */
  const spansOf = async (run: (agent: TestAgent) => Promise<unknown>) => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const agent = await startTestAgent(deferring());
    await run(agent);
    await agent.stop();
    await tracing.stop();
    return collector.spans
      .filter(({ name }) => name.startsWith('a2a.'))
      .map(({ name, status, attributes }) => [name, status, attributes['a2a.method']]);
  };
  const named = (operation: keyof WireSurface['methods'], status: string) => {
    const method = surface.methods[operation];
    return [`a2a.${method}`, status, method];
  };

  it('are named after the method, and have the reason of a refusal', async () => {
    const message = surface.saying('hi');
    const spans = await spansOf(async (agent: AgentClient) => {
      const { id } = surface.taskOf(await ask(agent, surface, 'send', { message }));
      await (await openStream(agent, surface, 'stream', { message })).rest();
      await ask(agent, surface, 'get', { id });
      await ask(agent, surface, 'get', { id: 'none' });
      await ask(agent, surface, 'cancel', { id });
      await ask(agent, surface, 'subscribe', { id });
      await ask(agent, surface, 'send', { message: {} });
    });
    expect(spans).toEqual([
      named('send', 'unset'),
      named('stream', 'unset'),
      named('get', 'unset'),
      named('get', 'error'),
      named('cancel', 'error'),
      named('subscribe', 'error'),
      named('send', 'error'),
    ]);
  });
});

it('an unknown method of a version names no span', async () => {
  const collector = await startCollector();
  const tracing = traceInto(collector);
  const agent = await startTestAgent();
  const call = (method: string, version: string) =>
    agent.post('/', { jsonrpc: '2.0', id: 1, method, params: {} }, { 'A2A-Version': version });
  await call('SendMessage', '0.3');
  await call('GetNothing', '1.0');
  await agent.stop();
  await tracing.stop();
  const spans = collector.spans.filter(({ name }) => name.startsWith('a2a.'));
  expect(spans.map(({ name, status }) => [name, status])).toEqual([
    ['a2a.unknown', 'error'],
    ['a2a.unknown', 'error'],
  ]);
});
