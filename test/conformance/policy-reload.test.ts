import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { policyGapIn } from '../../src/actors/workspace/policy-gap.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

type Security = NonNullable<ServiceSettings['security']>;

/** Holds `pay`, with these rules on top. */
const holding = (rule: object = {}): Security => ({
  defer: { enabled: true, tools: { pay: { to: 'channel:console:*', ...rule } } },
});

const denying: Security = { guardrails: { enabled: true, denied_tools: ['pay'] } };

const fileOf = ({ folder }: TestAgent): string => join(folder.path, 'service.yaml');

/** Writes other rules into the file of a running agent. */
function write(agent: TestAgent, security: object, rest: object = {}): void {
  const service = JSON.parse(readFileSync(fileOf(agent), 'utf8'));
  writeFileSync(fileOf(agent), JSON.stringify({ ...service, security, ...rest }));
}

const eventsOf = (agent: TestAgent, name: string) =>
  agent.audit().flatMap(({ event, fields }) => (event === name ? [fields ?? {}] : []));

/** Writes other rules and waits until they are in force. */
async function apply(agent: TestAgent, security: object): Promise<void> {
  const before = eventsOf(agent, 'policy_loaded').length;
  write(agent, security);
  await vi.waitUntil(() => eventsOf(agent, 'policy_loaded').length > before, patient);
}

const told = ({ log }: TestAgent) =>
  log.flatMap(({ message }) => (message.startsWith('policy: ') ? [message] : []));

const paying = [{ tool: 'pay', args: { amount: '5' } }, { say: 'paid' }];

const stateOf = async (agent: TestAgent, id: string) =>
  (await agent.send(id, paying)).body.status.state;

describe('rules that change while the agent runs', () => {
  it('are applied without a restart, and the log has both digests before the first ruling', async () => {
    const agent = await startTestAgent();
    expect(await stateOf(agent, 't1')).toBe('completed');
    await apply(agent, denying);
    const [first, second] = eventsOf(agent, 'policy_loaded');
    expect(second).toEqual({
      ...first,
      layers: ['guardrails'],
      policy_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      previous_sha256: first?.['policy_sha256'],
    });
    expect(await stateOf(agent, 't2')).toBe('failed');
    expect(eventsOf(agent, 'call_ruled')).toEqual([
      expect.objectContaining({ decision: 'allow', policy_sha256: first?.['policy_sha256'] }),
      expect.objectContaining({ decision: 'deny', policy_sha256: second?.['policy_sha256'] }),
    ]);
    expect(policyGapIn(agent.folder.path, String(second?.['policy_sha256']))).toBeNull();
  });

  it.each<[string, Security, string]>([
    ['a hold', holding(), 'deferred'],
    ['a condition', holding({ when: 'args.amount == "6"' }), 'completed'],
    ['a shadow', { ...holding(), policy: { mode: 'shadow' } }, 'completed'],
    [
      'a rewriting with a forbidden result',
      {
        ...denying,
        guardrails: { enabled: true, denied_tools: [{ tool: 'pay', when: 'args.amount == "0"' }] },
        modify: { enabled: true, tools: { pay: { arguments: [{ path: 'amount', set: '0' }] } } },
      },
      'failed',
    ],
    [
      'a denied command',
      { guardrails: { enabled: true, deny_commands: [{ pattern: 'amount' }] } },
      'failed',
    ],
    [
      'a denied message',
      { guardrails: { enabled: true, deny_prompts: [{ pattern: 'paid' }] } },
      'failed',
    ],
  ])('apply to the next call: %s', async (_, security, state) => {
    const agent = await startTestAgent();
    await apply(agent, security);
    void agent.send('t1', paying).catch(() => undefined);
    await reached(agent, 't1', state);
  });

  it('deny a waiting call at its release, and change nothing for it when they are looser', async () => {
    const agent = await startTestAgent({ security: holding() });
    const sends = ['t1', 't2'].map((id) => agent.send(id, paying));
    await reached(agent, 't1', 'deferred');
    await reached(agent, 't2', 'deferred');
    await apply(agent, {});
    expect((await agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    await agent.decide('t1', { decision: 'approve', approver_email: 'ann@example.com' });
    await reached(agent, 't1', 'completed');
    await apply(agent, denying);
    await agent.decide('t2', { decision: 'approve', approver_email: 'ann@example.com' });
    const { body } = await (sends[1] as Promise<any>);
    expect([body.status.state, agent.folder.paid.length]).toEqual(['failed', 1]);
    expect(body.status.message.parts[0].text).toBe('denied by guardrail: pay is a denied tool');
  });

  it('require for a waiting call the approvers and the quorum of the two policies', async () => {
    const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((name) => `${name}@example.com`);
    const agent = await startTestAgent({ security: holding({ approvers: [ann, bob, eve] }) });
    void agent.send('t1', paying).catch(() => undefined);
    await reached(agent, 't1', 'deferred');
    await apply(agent, holding({ approvers: [ann, bob], quorum: 2 }));
    const decide = async (approver_email: string | undefined) =>
      (await agent.decide('t1', { decision: 'approve', approver_email })).status;
    expect([await decide(eve), await decide(ann), agent.folder.paid.length]).toEqual([403, 200, 0]);
    expect(await decide(bob)).toBe(200);
    await reached(agent, 't1', 'completed');
  });

  it('do not change a running call, which keeps its policy and digest', async () => {
    const agent = await startTestAgent();
    const sent = agent.send('t1', [{ tool: 'hold' }, { say: '{result}' }]);
    await vi.waitUntil(() => agent.folder.held.length === 1, patient);
    await apply(agent, {
      guardrails: { enabled: true, deny_output: [{ pattern: 'secret', action: 'block' }] },
    });
    await agent.folder.openGate('secret');
    const { body } = await sent;
    const [first] = eventsOf(agent, 'policy_loaded');
    expect(body.status.message.parts[0].text).toBe('secret');
    expect(eventsOf(agent, 'tool_exec').map(({ policy_sha256: sha256 }) => sha256)).toEqual([
      first?.['policy_sha256'],
      first?.['policy_sha256'],
    ]);
  });
});

describe('a file that cannot be applied', () => {
  it.each<[string, (agent: TestAgent) => void, RegExp]>([
    [
      'half of a file',
      (agent) => writeFileSync(fileOf(agent), readFileSync(fileOf(agent), 'utf8').slice(0, 60)),
      /^service\.yaml:\d+:\d+: /,
    ],
    ['an empty file', (agent) => writeFileSync(fileOf(agent), ''), /^service\.yaml:1:1: /],
    ['none', (agent) => rmSync(fileOf(agent)), /^service\.yaml:1:1: there is no service\.yaml in /],
    [
      'a rule for an unknown tool',
      (agent) =>
        write(agent, { defer: { enabled: true, tools: { pya: { to: 'channel:console:*' } } } }),
      /^service\.yaml:1:\d+: the agent has no tool pya/,
    ],
    [
      'a condition on an unknown member',
      (agent) => write(agent, holding({ when: 'tsk.id == "x"' })),
      /^service\.yaml:1:\d+: .*tsk/,
    ],
    [
      'a channel that the agent was started without',
      (agent) => write(agent, holding({ to: 'channel:slack:#ops' }), { channels: ['slack'] }),
      /the agent was started without channel:slack:#ops; restart the agent to apply the file$/,
    ],
  ])('changes nothing and is reported everywhere: %s', async (_, spoil, problem) => {
    const agent = await startTestAgent({ security: denying });
    spoil(agent);
    await vi.waitUntil(() => eventsOf(agent, 'policy_refused').length > 0, patient);
    expect(await stateOf(agent, 't1')).toBe('failed');
    const [loaded] = eventsOf(agent, 'policy_loaded');
    const [refused, ...more] = eventsOf(agent, 'policy_refused');
    expect([refused?.['policy_sha256'], more]).toEqual([loaded?.['policy_sha256'], []]);
    expect(refused?.['problems'][0]).toMatch(problem);
    expect(told(agent)[0]).toBe(
      `policy: ${refused?.['problems'][0]}; the rules before it stay in force`,
    );
    await vi.waitUntil(() => policyGapIn(agent.folder.path, null) !== null, patient);
    expect(policyGapIn(agent.folder.path, null)).toMatchObject({
      remedy: 'correct',
      problem: refused?.['problems'][0],
    });
  });

  it('is applied once it is corrected', async () => {
    const agent = await startTestAgent();
    const before = readFileSync(fileOf(agent), 'utf8');
    writeFileSync(fileOf(agent), 'agent_id: [');
    await vi.waitUntil(() => eventsOf(agent, 'policy_refused').length > 0, patient);
    writeFileSync(fileOf(agent), before);
    await vi.waitUntil(() => told(agent).length > 1, patient);
    expect(told(agent).at(-1)).toBe('policy: service.yaml has the rules in force again');
    await apply(agent, denying);
    expect(await stateOf(agent, 't1')).toBe('failed');
  });
});

describe('settings that need a restart', () => {
  it('are named, keep their value, and do not delay the rules', async () => {
    const agent = await startTestAgent();
    const defer = { bind_approver: true, on_restart: 'resume' };
    await Promise.all([
      vi.waitUntil(() => told(agent).length > 1, patient),
      apply(agent, { ...denying, defer }),
    ]);
    expect(told(agent)).toEqual([
      'policy: the changed rules are in force',
      'policy: security.defer.bind_approver, security.defer.on_restart changed; restart the agent to apply it',
    ]);
    const [, loaded] = eventsOf(agent, 'policy_loaded');
    expect(eventsOf(agent, 'policy_file_changed')).toEqual([
      {
        policy_sha256: loaded?.['policy_sha256'],
        file_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(policyGapIn(agent.folder.path, 'x')).toMatchObject({ remedy: 'restart', problem: null });
    expect(await stateOf(agent, 't1')).toBe('failed');
  });
});

describe('the mode manual', () => {
  const manual = { policy: { reload: 'manual' } };

  it('applies rules at POST /policy/reload only, which needs the token of the daemon', async () => {
    const agent = await startTestAgent({ security: manual });
    write(agent, { ...manual, ...denying });
    await vi.waitUntil(() => eventsOf(agent, 'policy_file_changed').length > 0, patient);
    expect(told(agent)).toEqual([
      'policy: service.yaml has other rules than those in force; holdpoint policy reload applies them',
    ]);
    expect(policyGapIn(agent.folder.path, 'x')).toMatchObject({ remedy: 'reload' });
    expect((await agent.post('/policy/reload')).status).toBe(403);
    expect(await stateOf(agent, 't1')).toBe('completed');
    const operator = agent.as(agent.token);
    const { status, body } = await operator.post('/policy/reload');
    const [first, second] = eventsOf(agent, 'policy_loaded');
    expect([status, body]).toEqual([
      200,
      {
        status: 'applied',
        policy_sha256: second?.['policy_sha256'],
        previous_sha256: first?.['policy_sha256'],
        restart: [],
      },
    ]);
    expect(await stateOf(agent, 't2')).toBe('failed');
    expect((await operator.post('/policy/reload')).body).toEqual({
      status: 'unchanged',
      policy_sha256: second?.['policy_sha256'],
      restart: [],
    });
    writeFileSync(fileOf(agent), 'agent_id: [');
    const unusable = await operator.post('/policy/reload');
    expect([unusable.status, unusable.body]).toEqual([
      409,
      {
        error: `${unusable.body.problems[0]}; the policy in force stays`,
        code: 'policy_invalid',
        problems: [expect.stringMatching(/^service\.yaml:1:\d+: /)],
      },
    ]);
  });
});
