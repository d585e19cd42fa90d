import { describe, expect, it } from 'vitest';
import { playing, saying } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type AuditLine, deferring, launchAgent, startTestAgent } from '../helpers/test-agent.ts';

const headers = {
  'X-Workflow-ID': 'refunds',
  'X-Workflow-Execution-ID': 'run-17',
  'X-Workflow-Stage-ID': 'pay',
  'X-Workflow-Step-ID': 'pay-1',
  'X-Invocation-Caller': 'orchestrator.example',
  'X-Service-Org-ID': 'acme',
  'X-Service-Workspace-ID': 'desk',
};

const tags = {
  workflow_id: 'refunds',
  workflow_execution_id: 'run-17',
  stage_id: 'pay',
  step_id: 'pay-1',
  invocation_caller: 'orchestrator.example',
  org_id: 'acme',
  workspace_id: 'desk',
};

const absent = Object.fromEntries(Object.keys(tags).map((key) => [key, undefined]));

function tagsOf(line: AuditLine): Record<string, unknown> {
  return Object.fromEntries(Object.keys(tags).map((key) => [key, line[key]]));
}

function post(url: string, path: string, body: object, more: object = {}): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
}

const script = [{ tool: 'pay' }, { say: 'done' }];

const eventsOfScript = [
  'session_start',
  'llm_call',
  'call_ruled',
  'tool_exec',
  'tool_exec',
  'llm_call',
  'session_end',
];

describe('the workflow of an invocation', () => {
  it.each([
    ['REST', '/tasks/send', { id: 't1', message: playing(script) }],
    ['a stream', '/tasks/sendSubscribe', { id: 't1', message: playing(script) }],
    [
      'JSON-RPC',
      '/',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tasks/send',
        params: { id: 't1', message: playing(script) },
      },
    ],
  ])('is on every event of it, over %s', async (_name, path, body) => {
    const agent = await startTestAgent({}, { noAuth: true });
    await (await post(agent.url, path, body, headers)).text();
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toEqual(eventsOfScript);
    for (const line of lines) expect(tagsOf(line)).toEqual(tags);
  });

  it('is on no event of an invocation without one', async () => {
    const agent = await startTestAgent({}, { noAuth: true });
    await agent.send('t1', script);
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toEqual(eventsOfScript);
    for (const line of lines) expect(tagsOf(line)).toEqual(absent);
  });

  it('stays with a held call, for any decider, and over a restart', async () => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    const before = await launchAgent({}, { folder, noAuth: true });
    const left = post(before.url, '/tasks/send', { id: 't1', message: playing(script) }, headers);
    await before.reached('t1', 'deferred');
    await before.stop();
    await left.catch(() => undefined);
    const agent = await startTestAgent({}, { folder, noAuth: true });
    await post(
      agent.url,
      '/tasks/t1/decisions',
      { decision: 'approve' },
      { 'X-Workflow-ID': 'another' },
    );
    await agent.reached('t1', 'completed');
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toContain('task_deferred_decision');
    for (const line of lines) expect(tagsOf(line)).toEqual(tags);
  });

  it('is on the events of sign-ins', async () => {
    const agent = await startTestAgent({ auth: { required: true } });
    await post(agent.url, '/tasks/send', {}, headers);
    await post(
      agent.url,
      '/tasks/send',
      { message: saying('hi') },
      {
        ...headers,
        authorization: `Bearer ${agent.token}`,
      },
    );
    const lines = agent.audit().filter(({ event }) => event.startsWith('auth_'));
    expect(lines.map(({ event }) => event)).toEqual(['auth_fail', 'auth_verify']);
    for (const line of lines) expect(tagsOf(line)).toEqual(tags);
  });

  it('omits invalid identifiers, and the log names only the header', async () => {
    const agent = await startTestAgent({}, { noAuth: true });
    const odd = {
      'X-Workflow-ID': 'x'.repeat(257),
      'X-Workflow-Step-ID': 'caf\u00e9',
      'X-Workflow-Stage-ID': '   ',
      'X-Invocation-Caller': 'y'.repeat(256),
    };
    const answer = await post(agent.url, '/tasks/send', { id: 't1', message: saying('hi') }, odd);
    expect(answer.status).toBe(200);
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toEqual(['session_start', 'llm_call', 'session_end']);
    for (const line of lines) {
      expect(tagsOf(line)).toEqual({ ...absent, invocation_caller: 'y'.repeat(256) });
    }
    expect(agent.log).toEqual([
      {
        level: 'warn',
        fields: { headers: ['X-Workflow-ID', 'X-Workflow-Step-ID'] },
        message: 'workflow: headers omitted',
      },
    ]);
  });
});
