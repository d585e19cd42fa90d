import { describe, expect, it } from 'vitest';
import { type AgentClient, playing } from '../helpers/agent-client.ts';
import { type GovernedAgent, startGovernedAgent } from '../helpers/governed-agent.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { type AuditLine, deferring, reached, startTestAgent } from '../helpers/test-agent.ts';
import { remote, startScores } from './governance/alignment-story.ts';

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

const keys = Object.keys(tags);

/** What a task that answers at once leaves in the log. */
const eventsOfAnswer = ['session_start', 'llm_call', 'session_end'];

function tagsOf(line: AuditLine): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (key in line ? [[key, line[key]]] : [])));
}

/** Ways to have a task worked on; each resolves once its caller is answered. */
const sendings = {
  REST: (client: AgentClient, task: object, more: Record<string, string>) =>
    client.post('/tasks/send', task, more),
  'JSON-RPC': (client: AgentClient, params: object, more: Record<string, string>) =>
    client.post('/', { jsonrpc: '2.0', id: 1, method: 'tasks/send', params }, more),
  'a stream': (client: AgentClient, task: object, more: Record<string, string>) =>
    client.post('/tasks/sendSubscribe', task, more),
};

const token = 'a-token-of-whoever-asks';

const defer = (rule: object) => ({ to: 'channel:console:desk', timeout: '5m', ...rule });

/** What each tool is for: one kind of event, or a few that belong together. */
const settings = (embeddings: string) => ({
  auth: { providers: [{ type: 'static_token', settings: { token } }] },
  security: {
    ...remote(embeddings, {
      threshold: 0,
      hard_threshold: -1,
      drift: { window: 3, drift_threshold: 0.1, monotone_n: 3 },
    }).security,
    modify: { enabled: true, tools: { pay: { arguments: [{ path: 'to', set: 'ann' }] } } },
    guardrails: { enabled: true, deny_prompts: [{ pattern: 'secret handshake' }] },
    step_up: { enabled: true, tools: { fall: 'high' } },
    defer: {
      enabled: true,
      tools: {
        tell: defer({}),
        encode: defer({
          // PostgreSQL is asked twice a second for what is due.
          ...{ timeout: isOverPostgres ? '4s' : '1600ms', remind: true },
          escalate_to: 'channel:console:boss',
        }),
      },
    },
  },
  credentials: [
    { tool: 'sign', provider: 'static', spec: { env: { PAY_TOKEN: { from_env: 'VAULT_KEY' } } } },
    {
      tool: 'tell',
      provider: 'sts_assume_role',
      spec: {
        role_arn: 'arn:aws:iam::123456789012:role/refunds',
        region: 'eu-central-1',
        endpoint: 'http://127.0.0.1:9/',
        access_key_env: 'VAULT_KEY',
        secret_key_env: 'VAULT_KEY',
      },
    },
  ],
});

const env = { VAULT_KEY: 'live-key-3f9a7c51' };

const pays = [90, 80, 70].map((amount) => ({ tool: 'pay', args: { amount } }));

function asking(script: unknown[]): object {
  const parts = [
    { kind: 'text', text: 'pay Maja five' },
    { kind: 'data', data: { script } },
  ];
  return { role: 'user', parts, messageId: 'm1' };
}

/** Tasks that together have every kind of event an invocation can have. */
const scripts: Record<string, object> = {
  signed: asking([{ tool: 'sign', args: {} }, { say: 'ok' }]),
  denied: { role: 'user', parts: [{ kind: 'text', text: 'secret handshake' }], messageId: 'm' },
  challenged: asking([{ tool: 'fall', args: { text: 'x' } }]),
  late: asking([{ tool: 'encode', args: {} }]),
  drifted: asking([...pays, { say: 'ok' }]),
};

const held = asking([{ tool: 'tell', args: { text: 'x' } }, { say: 'ok' }]);

const everyKind = [
  'auth_step_up_required',
  'call_ruled',
  'credential_failed',
  'credential_issued',
  'guardrail_check',
  'intent_alignment',
  'intent_drift',
  'invocation_cancelled',
  'llm_call',
  'session_end',
  'session_start',
  'task_deferred',
  'task_deferred_abandoned',
  'task_deferred_decision',
  'task_deferred_escalated',
  'task_deferred_reminder',
  'task_deferred_timeout',
  'tool_call_modified',
  'tool_exec',
];

type Send = (typeof sendings)[keyof typeof sendings];

/** Has every script run and two tasks held, and returns the events of all of them. */
async function runAll(
  agent: GovernedAgent,
  send: Send,
  [prefix, more]: [string, Record<string, string>],
): Promise<AuditLine[]> {
  const client = agent.as(token);
  for (const [name, message] of Object.entries(scripts)) {
    const answer = await send(client, { id: `${prefix}-${name}`, message }, more);
    expect([200, 401]).toContain(answer.status);
  }
  const ends = {
    approved: (id: string) => client.decide(id, { decision: 'approve' }),
    canceled: (id: string) => client.post(`/tasks/${id}/cancel`),
  };
  for (const [name, end] of Object.entries(ends)) {
    const id = `${prefix}-${name}`;
    const sent = send(client, { id, message: held }, more);
    await reached(client, id, 'deferred');
    await end(id);
    await sent;
  }
  return agent.audit().filter(({ task_id }) => task_id?.startsWith(`${prefix}-`));
}

/** The kinds that a task itself makes; what it reaches on the network depends on how the tools are made. */
function kindsOf(lines: AuditLine[]): string[] {
  const kinds = new Set(lines.map(({ event }) => event));
  return [...kinds].filter((event) => !event.startsWith('egress_')).toSorted();
}

describe('each kind of event of an invocation', () => {
  it.each(Object.entries(sendings))(
    'has the tags of its request over %s, and none of the keys without tags',
    async (_, send) => {
      const scores = await startScores();
      const agent = await startGovernedAgent(settings(scores.address), { env });
      const tagged = await runAll(agent, send, ['tagged', headers]);
      const bare = await runAll(agent, send, ['bare', {}]);
      expect(kindsOf(tagged)).toEqual(everyKind);
      expect(kindsOf(bare)).toEqual(everyKind);
      for (const line of tagged) {
        expect(tagsOf(line)).toEqual(tags);
        expect(line).toMatchObject({
          correlation_id: expect.any(String),
          entity_id: 'till',
          entity_type: 'agent',
        });
      }
      for (const line of bare) expect(tagsOf(line)).toEqual({});
    },
  );
});

describe('tags of a request', () => {
  it.each(Object.keys(headers).map((name, index) => [name, keys[index]!] as const))(
    'of %s alone are %s alone',
    async (name, key) => {
      const agent = await startTestAgent({}, { noAuth: true });
      await agent.post(
        '/tasks/send',
        { id: 't1', message: playing([{ say: 'ok' }]) },
        {
          [name]: '  one value ~ ',
        },
      );
      const lines = agent.audit('t1');
      expect(lines.map(({ event }) => event)).toEqual(eventsOfAnswer);
      for (const line of lines) expect(tagsOf(line)).toEqual({ [key]: 'one value ~' });
    },
  );

  it('apply to one run, also when a later run of the task has none', async () => {
    const agent = await startTestAgent({}, { noAuth: true });
    const task = { id: 't1', message: playing([{ say: 'ok' }]) };
    await agent.post('/tasks/send', task, headers);
    await agent.post('/tasks/send', task);
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toEqual([...eventsOfAnswer, ...eventsOfAnswer]);
    expect(lines.map(tagsOf)).toEqual([...Array(3).fill(tags), ...Array(3).fill({})]);
  });

  it('come from the run, not from its decider or canceler', async () => {
    const agent = await startTestAgent(deferring(), { noAuth: true });
    const task = { id: 't1', message: playing([{ tool: 'pay' }]) };
    const sent = agent.post('/tasks/send', task, headers);
    await agent.reached('t1', 'deferred');
    const other = Object.fromEntries(Object.keys(headers).map((name) => [name, 'other']));
    await agent.post('/tasks/t1/decisions', { decision: 'approve', approver: 'x' }, other);
    await sent;
    const lines = agent.audit('t1');
    expect(lines.map(({ event }) => event)).toEqual([
      ...['session_start', 'llm_call', 'call_ruled', 'task_deferred', 'task_deferred_decision'],
      ...['tool_exec', 'tool_exec', 'llm_call', 'session_end'],
    ]);
    for (const line of lines) expect(tagsOf(line)).toEqual(tags);
  });
});

describe('the tenant of the agent', () => {
  const home = { SERVICE_ORG_ID: ' home ', SERVICE_WORKSPACE_ID: 'till-1' };
  const statics = { org_id: 'home', workspace_id: 'till-1' };

  it('is on every event, including those of the daemon and of sign-ins', async () => {
    const settings = {
      auth: {
        required: true,
        providers: [{ type: 'static_token', name: 'ops', settings: { token_env: 'TOKEN' } }],
      },
    };
    const agent = await startGovernedAgent(settings, { env: { ...home, TOKEN: 'ops-1234567' } });
    await agent.get('/tasks');
    await agent.as('ops-1234567').send('t1', [{ tool: 'pay', args: { amount: 1 } }, { say: 'ok' }]);
    const lines = agent.audit();
    expect([...new Set(lines.map(({ event }) => event))]).toEqual([
      ...['policy_loaded', 'agent_card_published', 'auth_fail', 'auth_verify', 'session_start'],
      ...['llm_call', 'call_ruled', 'tool_exec', 'session_end'],
    ]);
    for (const line of lines) expect(tagsOf(line)).toEqual(statics);
  });

  it('is overridden by a header, each key separately', async () => {
    const agent = await startGovernedAgent({}, { env: home });
    const message = playing([{ say: 'ok' }]);
    const send = (id: string, more: Record<string, string>) =>
      agent.post('/tasks/send', { id, message }, more);
    await send('t1', { 'X-Service-Org-ID': 'acme' });
    await send('t2', { 'X-Service-Workspace-ID': 'desk' });
    await send('t3', {});
    const tenants = { t1: { org_id: 'acme' }, t2: { workspace_id: 'desk' }, t3: {} };
    for (const [id, tenant] of Object.entries(tenants)) {
      const lines = agent.audit(id);
      expect(lines.map(({ event }) => event)).toEqual(eventsOfAnswer);
      for (const line of lines) expect(tagsOf(line)).toEqual({ ...statics, ...tenant });
    }
  });

  it('is overridden with the header by the tenant of a verified identity', async () => {
    const identity = { user_id: 'ann', claims: { org_id: 'vouched' } };
    const provider = {
      type: 'static_token',
      name: 'ops',
      settings: { token: 'ops-1234567', identity },
    };
    const auth = { required: true, providers: [provider] };
    const agent = await startGovernedAgent({ auth }, { env: home });
    const message = playing([{ say: 'ok' }]);
    await agent.as('ops-1234567').post('/tasks/send', { id: 't1', message }, headers);
    const lines = agent.audit().slice(2);
    expect(lines.map(({ event }) => event)).toEqual([
      ...['auth_verify', 'session_start', 'llm_call', 'session_end'],
    ]);
    for (const line of lines) expect(tagsOf(line)).toEqual({ ...tags, org_id: 'vouched' });
  });

  it.each([
    ['nothing', {}],
    ['blanks', { SERVICE_ORG_ID: '  ', SERVICE_WORKSPACE_ID: '' }],
    [
      'an invalid identifier',
      { SERVICE_ORG_ID: 'caf\u00e9', SERVICE_WORKSPACE_ID: 'x'.repeat(257) },
    ],
  ])('has no keys when the environment has %s', async (_, variables) => {
    const agent = await startGovernedAgent({}, { env: variables });
    await agent.send('t1', [{ say: 'ok' }]);
    const lines = agent.audit();
    expect(lines.slice(-3).map(({ event }) => event)).toEqual(eventsOfAnswer);
    for (const line of lines) expect(tagsOf(line)).toEqual({});
  });
});
