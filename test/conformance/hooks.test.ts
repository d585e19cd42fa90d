import { describe, expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const defer = {
  enabled: true,
  tools: {
    '*': [
      { when: 'has(args.command) && args.command == "ls"', allow: true },
      { to: 'channel:console:*', timeout: '1h' },
    ],
  },
};

const gate = { tools: { '*': {} }, outcome_within: '2h' };

/** Starts a gate that is closed after the test. */
const startGate = (settings: object = {}): Promise<TestAgent> =>
  startTestAgent({ gate, security: { defer }, ...settings } as ServiceSettings);

const claude = {
  ...{ session_id: 's-1', transcript_path: '/t.jsonl', cwd: '/app' },
  ...{ permission_mode: 'default', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
  ...{ tool_use_id: 'toolu_01', tool_input: { command: 'rm -rf build', description: 'clean' } },
};

const ls = (event: object, input: string) => ({ ...event, [input]: { command: 'ls' } });

/** An event of each host that no rule holds, its permission and its denial. */
const hosts: [string, object, unknown, (reason: string) => object][] = [
  [
    'claude-code',
    ls(claude, 'tool_input'),
    { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } },
    (reason) => ({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
        permissionDecisionReason: reason,
      },
    }),
  ],
  [
    'codex',
    {
      ...ls(claude, 'tool_input'),
      ...{ turn_id: 'turn-1', model: 'gpt', agent_id: null, transcript_path: null },
    },
    { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } },
    (reason) => ({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
        permissionDecisionReason: reason,
      },
    }),
  ],
  [
    'cursor',
    {
      ...{ hook_event_name: 'beforeShellExecution', conversation_id: 'c-1', generation_id: 'g-1' },
      ...{ workspace_roots: ['/app'], command: 'ls', cwd: '/app' },
    },
    { permission: 'allow' },
    (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  ],
  [
    'copilot',
    { timestamp: 1, cwd: '/app', toolName: 'bash', toolArgs: '{"command":"ls"}' },
    { permissionDecision: 'allow' },
    (reason) => ({ permissionDecision: 'deny', permissionDecisionReason: reason }),
  ],
  [
    'opencode',
    {
      ...{ event: 'tool.execute.before', sessionID: 'ses_1', callID: 'call_1', tool: 'bash' },
      ...{ args: { command: 'ls' }, cwd: '/app' },
    },
    { decision: 'allow' },
    (reason) => ({ decision: 'deny', reason }),
  ],
];

const soon = { Prefer: 'respond-async' };

/** Asks for a call that waits; returns its id. */
async function held(agent: TestAgent, event: object = claude, path = 'claude-code') {
  const { status, body } = await agent.post(`/hooks/${path}`, event, soon);
  expect(status).toBe(202);
  return body.hold_id as string;
}

const decide = (agent: TestAgent, id: string, decision: object) =>
  agent.post(`/holds/${id}/decisions`, decision);

/** The reason of a denial, in the form of any host. */
const reasonOf = (body: any): string =>
  body.hookSpecificOutput?.permissionDecisionReason ??
  body.permissionDecisionReason ??
  body.agent_message ??
  body.reason;

describe.each(hosts)('the hook of %s', (name, event, permission, denial) => {
  const post = (agent: TestAgent, body: unknown) => agent.post(`/hooks/${name}`, body);

  it('permits a call that no rule holds', async () => {
    const { status, body } = await post(await startGate(), event);
    expect([status, body]).toEqual([200, permission]);
  });

  it('denies an unknown event and malformed JSON in the form of the host', async () => {
    const agent = await startGate();
    const unknown = { ...event, hook_event_name: 'x', event: 'x', toolName: undefined };
    for (const body of [unknown, '{"hook_event_name": "Pre', '[]']) {
      const answer = await post(agent, body);
      const reason = reasonOf(answer.body);
      expect(reason).toMatch(/^the gate refused the call: /);
      expect([answer.status, answer.body]).toEqual([200, denial(reason)]);
    }
  });

  it('denies a tool that the gate does not list', async () => {
    const agent = await startGate({ gate: { tools: { none: {} } } });
    const { status, body } = await post(agent, event);
    expect(status).toBe(200);
    expect(reasonOf(body)).toMatch(/^the call may not run: unknown tool: /);
  });
});

describe('a waiting call of a hook', () => {
  it('is one hold for a repeated hook, and is released once it is approved', async () => {
    const agent = await startGate();
    const id = await held(agent);
    expect(await held(agent)).toBe(id);
    const waiting = agent.post('/hooks/claude-code', claude);
    await decide(agent, id, { decision: 'approve' });
    const allowed = { hookEventName: 'PreToolUse', permissionDecision: 'allow' };
    expect((await waiting).body).toEqual({ hookSpecificOutput: allowed });
    expect(await agent.post('/hooks/claude-code', claude)).toMatchObject({
      status: 200,
      body: { hookSpecificOutput: allowed },
    });
    expect(agent.audit(id).filter(({ event }) => event === 'hold_released')).toHaveLength(1);
  });

  it('is denied with the note of the approver', async () => {
    const agent = await startGate();
    await decide(agent, await held(agent), { decision: 'reject', note: 'not on Friday' });
    const { body } = await agent.post('/hooks/claude-code', claude);
    expect(reasonOf(body)).toBe('the call may not run: rejected by unknown: not on Friday');
  });

  it("is canceled and denied after the hook's time limit", async () => {
    const agent = await startGate();
    const { body } = await agent.post('/hooks/claude-code', claude, { Prefer: 'wait=0' });
    expect(reasonOf(body)).toBe('the call may not run: the hook waited 0 s');
    expect((await agent.get('/deferrals')).body.total).toBe(0);
  });

  it('keeps waiting when the host disconnects', async () => {
    const agent = await startGate();
    const id = await held(agent);
    const left = new AbortController();
    const request = agent.open('POST', '/hooks/claude-code', { body: claude, signal: left.signal });
    left.abort();
    await expect(request).rejects.toThrow();
    await decide(agent, id, { decision: 'approve' });
    const { body } = await agent.get(`/holds/${id}`);
    expect([body.status, body.released]).toEqual(['approved', false]);
  });

  it('is refused for other arguments under the same call id', async () => {
    const agent = await startGate();
    await held(agent);
    const other = { ...claude, tool_input: { command: 'rm -rf /' } };
    const { body } = await agent.post('/hooks/claude-code', other);
    expect(reasonOf(body)).toMatch(/^the gate refused the call: the call id belongs to another/);
    expect((await agent.post('/hooks/claude-code', other, soon)).status).toBe(409);
  });

  it('belongs to its caller and session: two sessions with the same call id are two holds', async () => {
    const agent = await startGate();
    const ids = [await held(agent), await held(agent, { ...claude, session_id: 's-2' })];
    expect(new Set(ids).size).toBe(2);
  });
});

describe('arguments that an approver changed', () => {
  const edited = { command: 'rm -rf build/cache', description: 'clean' };
  const editable = {
    security: { defer: { enabled: true, tools: { '*': { to: 'channel:console:*', edit: true } } } },
  };

  it('are passed to a host that applies them', async () => {
    const agent = await startGate(editable);
    await decide(agent, await held(agent), { decision: 'approve', args: edited });
    expect((await agent.post('/hooks/claude-code', claude)).body).toEqual({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: edited },
      },
    });
    expect((await agent.post('/hooks/codex', claude, soon)).status).toBe(202);
  });

  it('are a denial for a host that cannot apply them, and the call counts for no limit', async () => {
    const limits = { made: { tools: ['bash'], per: '24h', max: 1, over: 'deny' } };
    const agent = await startGate({ security: { ...editable.security, limits } });
    const event = {
      toolName: 'bash',
      toolArgs: { command: 'make' },
      toolCallId: '1',
      sessionId: 's',
    };
    const id = await held(agent, event, 'copilot');
    await decide(agent, id, { decision: 'approve', args: { command: 'make -n' } });
    for (const _ of [1, 2]) {
      const { body } = await agent.post('/hooks/copilot', event);
      expect(reasonOf(body)).toBe(
        'the call may run only with other arguments, which the host cannot apply; make this call: {"command":"make -n"}',
      );
    }
    const { status, outcome } = (await agent.get(`/holds/${id}`)).body;
    expect([status, outcome]).toEqual(['approved', { status: 'not_run' }]);
    const [made] = (await agent.get('/limits')).body.limits;
    expect([made.used, made.reserved]).toEqual([0, 0]);
  });
});

describe('a call without an id', () => {
  const event = { toolName: 'bash', toolArgs: '{"command":"make"}', cwd: '/app' };

  it('is identified by its position, and its approval releases one call', async () => {
    const agent = await startGate();
    const path = 'copilot?position=812';
    const id = await held(agent, event, path);
    expect(await held(agent, event, path)).toBe(id);
    expect(await held(agent, event, 'copilot?position=990')).not.toBe(id);
    await decide(agent, id, { decision: 'approve' });
    const first = await agent.post(`/hooks/${path}`, event);
    expect(first.body).toEqual({ permissionDecision: 'allow' });
    const second = await agent.post(`/hooks/${path}`, event);
    expect(reasonOf(second.body)).toMatch(/^the approval of this call was used before/);
  });

  it.each([
    ['limit', { limits: { made: { tools: ['bash'], per: '24h', max: 5, over: 'deny' } } }],
    ['effect', { effects: { bash: { key: 'make' } } }],
  ])(
    'runs once by one reservation of a %s, however often it is asked at once',
    async (_, bounds) => {
      const agent = await startGate({ security: bounds });
      const ask = () => agent.post('/hooks/copilot?position=812', event);
      const answers = await Promise.all(Array.from({ length: 10 }, ask));
      const allowed = answers.filter(({ body }) => body.permissionDecision === 'allow');
      expect(allowed).toHaveLength(1);
      const denied = answers.find(({ body }) => body.permissionDecision === 'deny');
      expect(reasonOf(denied?.body)).toMatch(/^the permission of this call was used before/);
    },
  );

  it('is a new question each time without a position', async () => {
    const agent = await startGate();
    expect(await held(agent, event, 'copilot')).not.toBe(await held(agent, event, 'copilot'));
  });
});

describe('the end of a call', () => {
  const ended = { ...claude, hook_event_name: 'PostToolUse', tool_response: { stdout: 'done' } };
  const outcomeOf = async (agent: TestAgent, id: string) =>
    (await agent.get(`/holds/${id}`)).body.outcome;

  it('is the outcome of its hold, and the call cannot run again', async () => {
    const agent = await startGate();
    const id = await held(agent);
    await decide(agent, id, { decision: 'approve' });
    await agent.post('/hooks/claude-code', claude);
    expect(await agent.post('/hooks/claude-code', ended)).toMatchObject({ status: 200, body: {} });
    expect(await outcomeOf(agent, id)).toEqual({
      status: 'succeeded',
      result_sha256: 'd8c66c16b81344b14ba05af152cf1dc1ecc70fd58dcea02c628bc40be8ccfa89',
    });
    const again = await agent.post('/hooks/claude-code', claude);
    expect(reasonOf(again.body)).toMatch(/^this call ran before/);
  });

  it('is a failure, without its text', async () => {
    const agent = await startGate();
    const id = await held(agent);
    await decide(agent, id, { decision: 'approve' });
    await agent.post('/hooks/claude-code', claude);
    const failed = { ...ended, hook_event_name: 'PostToolUseFailure', error: 'token=abc' };
    await agent.post('/hooks/claude-code', failed);
    expect(await outcomeOf(agent, id)).toEqual({ status: 'failed' });
    expect(JSON.stringify(agent.audit(id))).not.toContain('token=abc');
  });

  it('counts without its digest if the result has half of a Unicode character', async () => {
    const agent = await startGate();
    const id = await held(agent);
    await decide(agent, id, { decision: 'approve' });
    await agent.post('/hooks/claude-code', claude);
    await agent.post('/hooks/claude-code', { ...ended, tool_response: 'cut \ud83d' });
    expect(await outcomeOf(agent, id)).toEqual({ status: 'succeeded' });
    const half = { ...claude, tool_use_id: 'x', tool_input: { command: '\ud83d' } };
    expect(reasonOf((await agent.post('/hooks/claude-code', half)).body)).toMatch(
      /^the gate refused the call: the event has half of a Unicode character/,
    );
  });

  it('of an unknown call creates no hold', async () => {
    const agent = await startGate();
    expect((await agent.post('/hooks/claude-code', ended)).status).toBe(200);
    expect((await agent.get('/deferrals')).body.total).toBe(0);
  });
});

describe('the hook route', () => {
  it('needs the token of the gate where callers sign in', async () => {
    const agent = await startGate({ auth: { required: true } });
    expect((await agent.post('/hooks/claude-code', claude)).status).toBe(401);
    expect((await agent.as('expired').post('/hooks/claude-code', claude)).status).toBe(401);
    expect(await agent.as(agent.token).post('/hooks/claude-code', claude, soon)).toMatchObject({
      status: 202,
    });
  });

  it('serves the five coding agents, and only at a gate', async () => {
    const agent = await startGate();
    const { status, body } = await agent.post('/hooks/vim', claude);
    expect([status, body.error]).toEqual([
      404,
      'unknown coding agent; the hooks of claude-code, codex, cursor, copilot, opencode are supported',
    ]);
    const other = await startTestAgent();
    expect((await other.post('/hooks/claude-code', claude)).status).toBe(404);
  });
});
