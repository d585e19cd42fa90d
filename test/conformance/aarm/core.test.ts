import { compactVerify, createLocalJWKSet } from 'jose';
import { describe, expect, it } from 'vitest';
import { argsDigest } from '../../../src/actors/governance/governance.ts';
import { startTestAgent, type TestAgent, textOf } from '../../helpers/test-agent.ts';

/** One rule for each decision, by amount, with the log in the words of AARM. */
const settings = {
  audit: { sign: true, vocabulary: 'aarm' },
  security: {
    guardrails: {
      enabled: true,
      denied_tools: [{ tool: 'pay', when: 'args.amount > 100', message: 'too much' }],
    },
    modify: {
      enabled: true,
      tools: {
        pay: { when: 'args.amount == 7', arguments: [{ path: 'amount', set: 6 }] },
      },
    },
    defer: {
      enabled: true,
      tools: {
        pay: [
          { when: 'args.amount == 49', to: 'channel:console:desk', timeout: '20ms' },
          { when: 'args.amount >= 50', to: 'channel:console:desk', timeout: '5m' },
        ],
      },
    },
  },
};

const pay = (amount: number) => [{ tool: 'pay', args: { amount } }, { say: 'paid {result}' }];

const start = () => startTestAgent(settings);

function rulings(agent: TestAgent, id: string): unknown[] {
  return agent
    .audit(id)
    .flatMap(({ fields = {} }) => (fields['aarm_decision'] === undefined ? [] : [fields]))
    .map((fields) => fields['aarm_decision']);
}

/** The claims of the signed receipt of a task's only call. */
async function receiptOf(agent: TestAgent, id: string): Promise<any> {
  const line = agent.audit(id).find(({ event }) => event === 'call_ruled');
  const { body } = await agent.get(`/tasks/${id}/calls/${line?.fields?.['call_id']}/receipt`);
  const keys = (await agent.get('/.well-known/audit-keys.json')).body;
  const { payload } = await compactVerify(String(body), createLocalJWKSet(keys));
  return { jws: String(body), keys, claims: JSON.parse(new TextDecoder().decode(payload)) };
}

describe('AARM R1, interception before execution:', () => {
  it('a denied call does not run and has a receipt', async () => {
    const agent = await start();
    expect(textOf(await agent.send('t1', pay(500)))).toBe('denied by guardrail: too much');
    expect(agent.folder.paid).toEqual([]);
    const { claims } = await receiptOf(agent, 't1');
    expect(claims).toMatchObject({ rulings: [{ decision: 'deny' }], ran: null });
  });

  it('a held call has no effect while it waits', async () => {
    const agent = await start();
    const done = agent.send('t1', pay(50));
    await agent.reached('t1', 'deferred');
    expect(agent.folder.paid).toEqual([]);
    expect(rulings(agent, 't1')).toEqual(['STEP_UP']);
    await agent.post('/tasks/t1/cancel');
    await done;
    expect(agent.folder.paid).toEqual([]);
  });

  it('a call whose governance is unavailable does not run', async () => {
    const agent = await startTestAgent({
      security: {
        intent_alignment: {
          ...{ enabled: true, provider: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' },
          ...{ model: 'none', threshold: 0.5, hard_threshold: 0.3 },
        },
        guardrails: { enabled: true },
      } as object,
    });
    expect(textOf(await agent.send('t1', pay(5)))).toMatch(/^denied by intent alignment/);
    expect(agent.folder.paid).toEqual([]);
  });
});

describe('AARM R4, the decisions:', () => {
  it.each([
    ['ALLOW executes', 5, ['ALLOW'], 'paid {"amount":5}'],
    ['DENY blocks', 500, ['DENY', 'DENY'], 'denied by guardrail: too much'],
    ['MODIFY transforms', 7, ['MODIFY'], 'paid {"amount":6}'],
    [
      'STEP_UP without an answer is DENY after the timeout',
      49,
      ['STEP_UP', 'DENY'],
      'defer: no decision within 20ms (auto-deny)',
    ],
  ])('%s', async (_, amount, decisions, text) => {
    const agent = await start();
    expect(textOf(await agent.send('t1', pay(amount)))).toBe(text);
    expect(rulings(agent, 't1')).toEqual(decisions);
    expect(agent.folder.paid).toHaveLength(text.startsWith('paid') ? 1 : 0);
  });

  it.each([
    ['approve', 'ALLOW', 1],
    ['reject', 'DENY', 0],
  ] as const)('STEP_UP pauses until a person decides %s', async (decision, said, times) => {
    const agent = await start();
    const done = agent.send('t1', pay(50));
    await agent.reached('t1', 'deferred');
    await agent.decide('t1', { decision, approver: 'ann' });
    await done;
    expect(rulings(agent, 't1')).toEqual(['STEP_UP', said]);
    expect(agent.folder.paid).toHaveLength(times);
  });

  it('no AARM word is added without the setting', async () => {
    const agent = await startTestAgent({ ...settings, audit: {} });
    await agent.send('t1', pay(5));
    expect(rulings(agent, 't1')).toEqual([]);
  });
});

describe('AARM R5, receipts:', () => {
  it.each([
    ['allow', 5],
    ['deny', 500],
    ['modify', 7],
  ])('%s has the digest of the policy and of the call', async (decision, amount) => {
    const agent = await start();
    await agent.send('t1', pay(amount));
    const { claims } = await receiptOf(agent, 't1');
    const policy_sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(claims).toMatchObject({ task_id: 't1', rulings: [{ decision, policy_sha256 }] });
    const args = { amount: amount === 7 ? 6 : amount };
    expect(claims.args_sha256).toBe(argsDigest('pay', args));
  });

  it('of a held call names the reason, the method and the time of its resolution', async () => {
    const agent = await start();
    const done = agent.send('t1', pay(50));
    await agent.reached('t1', 'deferred');
    await agent.decide('t1', { decision: 'approve', approver: 'ann' });
    await done;
    const { claims } = await receiptOf(agent, 't1');
    expect(claims).toMatchObject({
      rulings: [{ decision: 'defer', reason: 'awaiting channel:console:desk' }],
      decisions: [{ decision: 'approve', approver: 'ann', method: 'none', at: expect.any(String) }],
    });
  });

  it('is refused offline once a member was changed', async () => {
    const agent = await start();
    await agent.send('t1', pay(5));
    const { jws, keys, claims } = await receiptOf(agent, 't1');
    const [head, , signature] = jws.split('.');
    for (const changed of [
      { ...claims, requester: { user_id: 'eve' } },
      { ...claims, rulings: [{ ...claims.rulings[0], policy_sha256: '0'.repeat(64) }] },
    ]) {
      const payload = Buffer.from(JSON.stringify(changed)).toString('base64url');
      const forged = `${head}.${payload}.${signature}`;
      await expect(compactVerify(forged, createLocalJWKSet(keys))).rejects.toThrow(
        'signature verification failed',
      );
    }
  });
});
