import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const command = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
};

const gate = { tools: { Bash: { schema: command }, 'mcp__*': {} }, outcome_within: '2h' };

const defer = {
  enabled: true,
  tools: {
    Bash: [
      { when: 'args.command.startsWith("ls")', allow: true },
      { to: 'channel:console:*', timeout: '1h' },
    ],
    'mcp__*': { to: 'channel:console:*' },
  },
};

const asked = { key: 's-1:1', tool: 'Bash', args: { command: 'rm -rf build' } };

/** Starts a gate that is closed after the test. */
function startGate(settings: object = {}): Promise<TestAgent> {
  return startTestAgent({ gate, security: { defer }, ...settings } as ServiceSettings);
}

/** Asks for a call that waits; returns its id. */
async function held(agent: TestAgent, body: object = asked): Promise<string> {
  const { status, body: hold } = await agent.post('/holds', body);
  expect(status).toBe(202);
  return hold.hold_id;
}

const decide = (agent: TestAgent, id: string, decision: string, note = '') =>
  agent.post(`/holds/${id}/decisions`, { decision, note });

/** The events of a hold with their fields, without what differs at each run. */
const story = (agent: TestAgent, id: string) => agent.audit(id).map(({ event }) => event);

describe('a request for a call', () => {
  it('allows a call without a rule, and names its receipt', async () => {
    const agent = await startGate();
    const ls = { ...asked, args: { command: 'ls' } };
    const { status, body } = await agent.post('/holds', ls);
    const { hold_id, args_sha256, receipt } = body;
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...{ hold_id, key: 's-1:1', status: 'allowed', args: { command: 'ls' }, args_sha256 },
        ...{ reason: null, note: null, approver: null, receipt, released: false, outcome: null },
      },
    });
    expect(receipt).toMatch(new RegExp(`^/tasks/${hold_id}/calls/[^/]+/receipt$`));
    expect(story(agent, hold_id)).toEqual(['session_start', 'call_ruled', 'session_end']);
  });

  it('holds a call with a rule, and shows it to approvers', async () => {
    const agent = await startGate();
    const stated = {
      agent: 'claude-code',
      session: 's-1',
      subject: 'ann',
      context: { cwd: '/app' },
    };
    const { status, headers, body } = await agent.post('/holds', { ...asked, ...stated });
    const { hold_id, expires_at, args_sha256 } = body;
    expect({ status, body, location: headers.get('location') }).toEqual({
      status: 202,
      location: `/holds/${hold_id}`,
      body: {
        ...{ hold_id, key: 's-1:1', status: 'pending', to: 'channel:console:*' },
        ...{ expires_at, args_sha256, retry_after: 2 },
      },
    });
    const { deferrals, total } = (await agent.get('/deferrals')).body;
    expect(total).toBe(1);
    expect(deferrals).toMatchObject([
      {
        ...{ task_id: hold_id, tool: 'Bash', args: asked.args, args_sha256 },
        context:
          'tool=Bash args={"command":"rm -rf build"}\nagent="claude-code"\nsession="s-1"\nsubject="ann"\ncontext={"cwd":"/app"}',
      },
    ]);
    expect(agent.audit(hold_id)[0]).toMatchObject({
      event: 'session_start',
      fields: { key: 's-1:1', agent: 'claude-code', session: 's-1', subject: 'ann' },
    });
    expect(story(agent, hold_id)).toEqual(['session_start', 'call_ruled', 'hold_deferred']);
  });

  it('shows the arguments of the program without what the rules redact', async () => {
    const redact = { enabled: true, redact: ['email'] };
    const agent = await startGate({ security: { defer, guardrails: redact } });
    const stated = { agent: 'a@secret.example', context: { note: 'b@secret.example' } };
    const id = await held(agent, { ...asked, ...stated });
    const [{ context, hold }] = (await agent.get('/deferrals')).body.deferrals;
    const log = JSON.stringify(agent.audit(id));
    expect([context, hold.agent, log].join().match(/secret\.example/)).toBeNull();
  });

  it('denies invalid arguments, and tools without an entry', async () => {
    const agent = await startGate();
    const answers = [
      await agent.post('/holds', { ...asked, args: { cmd: 1 } }),
      await agent.post('/holds', { ...asked, key: '2', tool: 'Write' }),
    ];
    expect(answers.map(({ status, body: { status: is, reason } }) => [status, is, reason])).toEqual(
      [
        [200, 'denied', 'Bash: argument command is missing'],
        [200, 'denied', 'unknown tool: Write'],
      ],
    );
  });

  it.each([
    ['defer', 202, 'pending'],
    ['allow', 200, 'allowed'],
  ])('decides unlisted tools by unknown: %s', async (unknown, status, word) => {
    const agent = await startGate({ gate: { ...gate, unknown } });
    const answer = await agent.post('/holds', { ...asked, tool: 'Write' });
    expect([answer.status, answer.body.status]).toEqual([status, word]);
  });

  it.each([
    ['Bsah', 'gate.tools lists no such tool; the nearest is Bash'],
    ['Write', 'gate.tools lists no such tool'],
  ])('shows program and approver that no tool is named %s', async (tool, hint) => {
    const agent = await startGate({ gate: { ...gate, unknown: 'defer' } });
    const { body } = await agent.post('/holds', { ...asked, tool });
    expect(body.hint).toBe(hint);
    const [waiting] = (await agent.get('/deferrals')).body.deferrals;
    expect(waiting.context.startsWith(`${hint}. tool=${tool} args=`)).toBe(true);
    expect((await agent.post('/holds', { ...asked, key: 'listed' })).body.hint).toBeUndefined();
  });

  it('applies the rules of a pattern to every matching tool', async () => {
    const agent = await startGate();
    await held(agent, { ...asked, tool: 'mcp__github__merge' });
  });

  it('answers the same key with the same hold, and 409 for another call', async () => {
    const agent = await startGate();
    const id = await held(agent);
    expect((await agent.post('/holds', asked)).body.hold_id).toBe(id);
    const other = { ...asked, args: { command: 'rm -rf /' } };
    expect(await agent.post('/holds', other)).toMatchObject({
      status: 409,
      body: {
        error: 'the key s-1:1 belongs to a hold of another call; choose another key',
        code: 'idempotency_key_reused',
        hold_id: id,
      },
    });
    const again = await Promise.all(
      Array.from({ length: 8 }, () => agent.post('/holds', { ...asked, key: 'new' })),
    );
    expect(new Set(again.map(({ body }) => body.hold_id)).size).toBe(1);
    expect((await agent.get('/deferrals')).body.total).toBe(2);
  });

  it.each([
    ['an empty key', { ...asked, key: '' }, 'key must not be empty'],
    ['no tool', { key: 'k', args: {} }, 'tool must be a string'],
    ['arguments in a list', { ...asked, args: [] }, 'args must be an object'],
    [
      'a bad digest',
      { ...asked, runs_sha256: 'x' },
      'runs_sha256 must be a SHA-256 in lower-case hex',
    ],
    [
      'a long subject',
      { ...asked, subject: 'x'.repeat(257) },
      'subject must be at most 256 characters',
    ],
    [
      'a folder with a line break',
      { ...asked, cwd: '/app\n/etc' },
      'cwd must have no control characters',
    ],
    ['a list', [], 'the body must be {"key", "tool", "args"}'],
    [
      'a long context',
      { ...asked, context: { a: 'x'.repeat(4_000) } },
      'context must be at most 4000 characters of JSON',
    ],
    [
      'a workflow with a line break',
      { ...asked, workflow_id: 'a\nb' },
      'workflow_id must be 1 to 256 printable ASCII characters',
    ],
  ])('%s is 400, and nothing is held', async (_, body, error) => {
    const agent = await startGate();
    expect(await agent.post('/holds', body)).toMatchObject({ status: 400, body: { error } });
    expect((await agent.get('/tasks')).body.tasks).toEqual([]);
  });

  it('refuses one call above the limit, until another one is decided', async () => {
    const agent = await startGate({
      security: { defer: { ...defer, max_pending_per_caller: 1 } },
    });
    const first = await held(agent);
    const { status, headers } = await agent.post('/holds', { ...asked, key: '2' });
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    await decide(agent, first, 'reject');
    await held(agent, { ...asked, key: '2' });
  });
});

describe('a waiting hold', () => {
  it('is released once after its approval, and closed by its outcome', async () => {
    const agent = await startGate();
    const id = await held(agent);
    const waiting = agent.get(`/holds/${id}?wait=30`);
    expect((await decide(agent, id, 'approve', 'the build is old')).status).toBe(200);
    const first = (await waiting).body;
    expect(first).toMatchObject({
      ...{ hold_id: id, key: 's-1:1', status: 'approved', args: asked.args, reason: null },
      ...{ note: 'the build is old', approver: 'unknown', released: false, outcome: null },
    });
    expect((await agent.get(`/holds/${id}`)).body).toMatchObject({ released: true });
    const outcome = { status: 'failed', error: 'no such folder' };
    expect((await agent.post(`/holds/${id}/outcome`, outcome)).body).toMatchObject({ outcome });
    expect((await agent.post(`/holds/${id}/outcome`, outcome)).status).toBe(200);
    expect(await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' })).toMatchObject({
      status: 409,
      body: {
        error: 'the hold has another outcome, and only the first one counts',
        code: 'outcome_differs',
        outcome,
      },
    });
    expect(story(agent, id)).toEqual([
      ...['session_start', 'call_ruled', 'hold_deferred', 'hold_deferred_decision'],
      ...['session_end', 'hold_released', 'hold_outcome'],
    ]);
    expect((await agent.get('/deferrals?decided_by=me')).body.deferrals).toMatchObject([
      { task_id: id, outcome: 'failed', error: 'no such folder' },
    ]);
  });

  it.each([
    ['reject', 'rejected'],
    ['cancel', 'cancelled'],
  ])('may not run after a %s', async (what, status) => {
    const agent = await startGate();
    const id = await held(agent);
    if (what === 'reject') await decide(agent, id, 'reject', 'not today');
    else await agent.request('DELETE', `/holds/${id}`);
    const { body } = await agent.get(`/holds/${id}`);
    expect([body.status, 'args' in body]).toEqual([status, false]);
    expect(await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' })).toMatchObject({
      status: 409,
      body: {
        error: `the call may not run, since its hold is ${status}`,
        code: 'call_not_approved',
        status,
      },
    });
    expect((await decide(agent, id, 'approve')).status).toBe(what === 'reject' ? 409 : 404);
  });

  it('is not released by the answer to a late cancel', async () => {
    const agent = await startGate();
    const id = await held(agent);
    await decide(agent, id, 'approve');
    await agent.reached(id, 'completed');
    const late = (await agent.request('DELETE', `/holds/${id}`)).body;
    expect([late.status, late.released, 'args' in late]).toEqual(['approved', false, false]);
    const first = (await agent.get(`/holds/${id}`)).body;
    expect([first.released, first.args]).toEqual([false, asked.args]);
    const again = (await agent.request('DELETE', `/holds/${id}`)).body;
    expect([again.released, again.args]).toEqual([true, asked.args]);
  });

  it('is answered after the requested wait', async () => {
    const agent = await startGate();
    const prefer = { prefer: 'wait=1' };
    const { status } = await agent.post('/holds', asked, prefer);
    expect(status).toBe(202);
    const id = await held(agent);
    expect((await agent.get(`/holds/${id}?wait=soon`)).status).toBe(400);
  });

  it('waits for its outcome after a pending one was reported', async () => {
    const agent = await startGate();
    const id = await held(agent);
    expect(await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' })).toMatchObject({
      status: 409,
      body: { status: 'pending' },
    });
    expect((await agent.get(`/holds/${id}`)).status).toBe(202);
  });

  it('ends if the current rules deny it', async () => {
    const folder = new AgentFolder({ gate, security: { defer } } as ServiceSettings);
    const before = await startInFolder(folder);
    const id = await held(before);
    await before.stop();
    const path = join(folder.path, 'service.yaml');
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    settings.security.guardrails = { enabled: true, denied_tools: ['Bash'] };
    writeFileSync(path, JSON.stringify(settings));
    const after = await startInFolder(folder);
    expect((await after.get(`/holds/${id}`)).body).toMatchObject({
      status: 'denied',
      reason: 'denied by guardrail: Bash is a denied tool',
    });
    folder.remove();
  });
});

describe('an approved call that its program did not receive', () => {
  /** Replaces the rules of a running gate, and waits until they are in force. */
  async function apply(agent: TestAgent, security: object): Promise<void> {
    const loaded = () => agent.audit().filter(({ event }) => event === 'policy_loaded').length;
    const before = loaded();
    const path = join(agent.folder.path, 'service.yaml');
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...settings, security }));
    await vi.waitUntil(() => loaded() > before, patient);
  }

  async function approved(agent: TestAgent): Promise<string> {
    const id = await held(agent);
    await decide(agent, id, 'approve', 'go');
    return id;
  }

  const unused = async (agent: TestAgent, id: string) => {
    const { status: code, body } = await agent.get(`/holds/${id}`);
    const { status, reason, note, approver } = body;
    expect([code, 'args' in body]).toEqual([200, false]);
    const outcome = await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' });
    expect(outcome.status).toBe(409);
    expect(story(agent, id).slice(-2)).toEqual(['session_end', 'hold_withdrawn']);
    const [decision] = (await agent.get('/deferrals?decided_by=me')).body.deferrals;
    expect(decision.outcome).toBe('never_ran');
    return { status, reason, note, approver };
  };

  it('expires, also when it was approved before a restart', async () => {
    const folder = new AgentFolder({
      gate: { ...gate, release_within: '50ms' },
      security: { defer },
    } as ServiceSettings);
    const before = await startInFolder(folder);
    const id = await approved(before);
    await before.stop();
    const agent = await startInFolder(folder);
    await vi.waitUntil(() => story(agent, id).includes('hold_withdrawn'), patient);
    expect(await unused(agent, id)).toEqual({
      ...{ status: 'expired', note: 'go', approver: 'unknown' },
      reason:
        'the call was approved, and its program did not fetch it in time; ask again with another key',
    });
    folder.remove();
  });

  const approvers = ['ann@example.com', 'bob@example.com'];
  const twoOf = { to: 'channel:console:*', approvers, quorum: 2 };

  it.each<[string, object, string]>([
    [
      'is denied by the current rules',
      { defer, guardrails: { enabled: true, denied_tools: ['Bash'] } },
      'denied by guardrail: Bash is a denied tool',
    ],
    [
      'may run only with the approved arguments',
      {
        defer,
        modify: { enabled: true, tools: { Bash: { arguments: [{ path: 'command', set: 'ls' }] } } },
      },
      'the rules in force no longer allow this call as it was approved; ask again with another key',
    ],
    [
      'needs the current quorum',
      { defer: { ...defer, tools: { Bash: twoOf } } },
      'the policy in force demands other approvals than this call was given',
    ],
  ])('%s', async (_, security, reason) => {
    const agent = await startGate();
    const id = await approved(agent);
    await apply(agent, security);
    const ends = { status: 'denied', note: 'go', approver: 'unknown' };
    expect(await unused(agent, id)).toMatchObject(ends);
    expect((await agent.get(`/holds/${id}`)).body.reason).toBe(reason);
    const { fields } = agent.audit(id).at(-1) ?? {};
    expect(fields).toMatchObject({ tool: 'Bash', reason, deferral_id: expect.any(String) });
  });

  it('is released under looser rules, and under rules that count only other calls', async () => {
    const agent = await startGate();
    const [looser, counted] = [
      await held(agent),
      await held(agent, { ...asked, key: '2', session: 's' }),
    ];
    await decide(agent, looser, 'approve');
    await decide(agent, counted, 'approve');
    const once = { tool: 'Bash', when: 'history.count("Bash") > 0' };
    await apply(agent, { guardrails: { enabled: true, denied_tools: [once] } });
    const answers = [await agent.get(`/holds/${looser}`), await agent.get(`/holds/${counted}`)];
    expect(answers.map(({ body }) => [body.status, body.released])).toEqual([
      ['approved', false],
      ['approved', false],
    ]);
  });
});

it('a rule counts the calls of a long session, and of no other one', async () => {
  const Bash = [{ when: 'history.count("Bash") < 60', allow: true }, { to: 'channel:console:*' }];
  const agent = await startGate({ security: { defer: { ...defer, tools: { Bash } } } });
  const ask = async (key: number, session?: string) =>
    (await agent.post('/holds', { ...asked, key: `${session}:${key}`, session })).body.status;
  for (let key = 0; key < 60; key += 1) expect(await ask(key, 's-1')).toBe('allowed');
  expect([await ask(60, 's-1'), await ask(60, 's-2'), await ask(60)]).toEqual([
    ...['pending', 'allowed', 'allowed'],
  ]);
});

describe('a claim', () => {
  const ls = { ...asked, args: { command: 'ls' } };

  it('lets its process receive a lost answer again, and no other', async () => {
    const agent = await startGate();
    const id = await held(agent, { ...asked, claim: 'p-1' });
    await decide(agent, id, 'approve');
    const released = async (path: string) => (await agent.get(path)).body.released;
    expect([
      await released(`/holds/${id}?claim=p-1`),
      await released(`/holds/${id}?claim=p-1`),
      await released(`/holds/${id}?claim=p-2`),
      await released(`/holds/${id}`),
      (await agent.post('/holds', { ...asked, claim: 'p-1' })).body.released,
      (await agent.post('/holds', asked)).body.released,
    ]).toEqual([false, false, true, true, false, true]);
    await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' });
    expect(await released(`/holds/${id}?claim=p-1`)).toBe(true);
  });

  it('names the process that received an allowed call', async () => {
    const agent = await startGate();
    const released = async (body: object) => (await agent.post('/holds', body)).body.released;
    expect([
      await released({ ...ls, claim: 'p-1' }),
      await released({ ...ls, claim: 'p-1' }),
      await released({ ...ls, claim: 'p-2' }),
      await released(ls),
    ]).toEqual([false, false, true, true]);
    expect([await released({ ...ls, key: '2' }), await released({ ...ls, key: '2' })]).toEqual([
      ...[false, true],
    ]);
  });

  it.each(['', 'a b', 'é', 'x'.repeat(129)])('%j is 400', async (claim) => {
    const agent = await startGate();
    const error = expect.stringMatching(/^claim must /);
    expect(await agent.post('/holds', { ...ls, claim })).toMatchObject({
      status: 400,
      body: { error, code: 'invalid_body' },
    });
    const { body } = await agent.post('/holds', ls);
    const path = `/holds/${body.hold_id}?claim=${encodeURIComponent(claim)}`;
    expect(await agent.get(path)).toMatchObject({
      status: 400,
      body: { error, code: 'invalid_query' },
    });
  });
});

describe('a gate', () => {
  it('has no holds with other ids', async () => {
    const agent = await startGate();
    for (const id of ['nope', 'a%2Fb']) {
      expect((await agent.get(`/holds/${id}`)).status).toBe(404);
    }
    expect((await agent.post('/holds/nope/outcome', { status: 'failed' })).body).toEqual({
      error: 'hold not found',
      code: 'hold_not_found',
    });
  });

  it('has no model', async () => {
    const agent = await startGate();
    const { body } = await agent.send('t1', []);
    expect(body.status.message.parts).toEqual([
      {
        kind: 'text',
        text: 'this agent is a gate and has no model; send the calls of your agent to POST /holds',
      },
    ]);
  });

  it('is the only kind of agent with holds', async () => {
    const agent = await startTestAgent();
    expect((await agent.post('/holds', asked)).status).toBe(404);
  });
});
