import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { launchAgent, type TestAgent } from '../helpers/test-agent.ts';

const tokenOf = (name: string) => `token-of-${name}-0123456789abcdef`;

const provider = (name: string, more: object = {}) => ({
  ...{ type: 'static_token', name, ...more },
  settings: {
    token: tokenOf(name),
    identity: { user_id: name, email: `${name}@example.com` },
  },
});

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent({
    gate: { tools: { Bash: {} } },
    auth: {
      required: true,
      providers: [provider('dev'), provider('other'), provider('ops', { decide: true })],
    },
    security: {
      defer: { enabled: true, tools: { Bash: { to: 'channel:console:*', timeout: '1h' } } },
    },
  } as ServiceSettings);
});

afterAll(() => agent.close());

let asks = 0;

/** Asks for a call through a surface, and returns the id of its hold. */
const surfaces: Record<string, (by: AgentClient) => Promise<string>> = {
  async holds(by) {
    const { body } = await by.post('/holds', { key: `k-${++asks}`, tool: 'Bash', args: {} });
    return body.hold_id;
  },
  async hooks(by) {
    const event = {
      ...{ hook_event_name: 'PreToolUse', session_id: `s-${++asks}`, tool_use_id: 't', cwd: '/p' },
      ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
    };
    await by.post('/hooks/claude-code', event, { prefer: 'respond-async' });
    const { deferrals } = (await agent.as(agent.token).get('/deferrals')).body;
    return deferrals.find(({ context }: { context: string }) => context.includes(`s-${asks}`))
      .task_id;
  },
};

const claimed = {
  decision: 'approve',
  approver: 'ciso@example.com',
  approver_email: 'ciso@example.com',
};

it.each(Object.keys(surfaces))(
  'a gate refuses the caller that asked through /%s',
  async (surface) => {
    for (const name of ['dev', 'ops']) {
      const by = agent.as(tokenOf(name));
      const id = await surfaces[surface]?.(by);
      const tries = [
        await by.post(`/tasks/${id}/decisions`, claimed),
        await by.post(`/holds/${id}/decisions`, claimed),
        await by.post(`/holds/${id}/decisions`, { decision: 'approve' }),
        await by.post(`/holds/${id}/decisions`, { decision: 'reject' }),
      ];
      expect(tries.map(({ status, body }) => [status, body.error])).toEqual(
        tries.map(() => [403, 'approver not authorized']),
      );
      const list = { decisions: [{ task_id: id, deferral_id: id, ...claimed }] };
      const { body } = await by.post('/deferrals/decisions', list);
      expect(body.decisions.map(({ status }: { status: number }) => status)).not.toContain(200);
    }
  },
);

it.each(Object.keys(surfaces))(
  "a gate lets a token with decide, and the daemon's own token, decide a call through /%s",
  async (surface) => {
    for (const [token, expected] of [
      [tokenOf('other'), 403],
      [tokenOf('ops'), 200],
      [agent.token, 200],
    ] as const) {
      const id = await surfaces[surface]?.(agent.as(tokenOf('dev')));
      const { status } = await agent.as(token).post(`/holds/${id}/decisions`, claimed);
      expect([token, status]).toEqual([token, expected]);
    }
  },
);

it("a gate lets the daemon's own token decide a call that it asked for", async () => {
  const operator = agent.as(agent.token);
  const id = await surfaces['holds']?.(operator);
  expect((await operator.post(`/holds/${id}/decisions`, claimed)).status).toBe(200);
});
