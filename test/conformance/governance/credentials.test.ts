import { describe, expect, it } from 'vitest';
import { assumedRole, fakeSts, refusal } from '../../actors/governance/credentials/fake-sts.ts';
import { startGovernedAgent } from '../../helpers/governed-agent.ts';
import {
  expectOutcome,
  type Outcome,
  type Scenario,
  transports,
} from '../../helpers/governed-run.ts';
import { decided, layersSay, running, thought, waits } from '../../helpers/governed-words.ts';

const secret = 'live-key-3f9a7c51';
const env = { VAULT_KEY: secret, BASE_ID: 'AKIDBASE0001', BASE_SECRET: 'base-secret-0001' };
const script = [{ tool: 'sign', args: {} }, { say: 'got {result}' }];
const stored = [
  { tool: 'sign', provider: 'static', spec: { env: { PAY_TOKEN: { from_env: 'VAULT_KEY' } } } },
];

const assuming = (endpoint: string) => [
  {
    tool: 'sign',
    provider: 'sts_assume_role',
    spec: {
      role_arn: 'arn:aws:iam::123456789012:role/refunds',
      region: 'eu-central-1',
      endpoint,
      access_key_env: 'BASE_ID',
      secret_key_env: 'BASE_SECRET',
    },
  },
];

const hold = { enabled: true, tools: { sign: { to: 'channel:console:desk', timeout: '5m' } } };
const heldWords: Record<string, [string, string]> = {
  defer: ['defer', 'awaiting channel:console:desk'],
};

const answers = {
  issued: () => ({
    status: 200,
    body: assumedRole(
      { key: 'ASIAEXAMPLE0001', secret: 'sts-secret-0001', token: 'sts-token-0001' },
      new Date(Date.now() + 900_000).toISOString(),
    ),
  }),
  denied: () => ({ status: 403, body: refusal('AccessDenied', `not with ${env.BASE_SECRET}`) }),
};

/** What comes of a call that ran with credentials and shows none of them. */
function signed(text: string, made: object, words: Parameters<typeof layersSay>[0]): Outcome {
  return {
    state: 'completed',
    text,
    events: [
      thought,
      ['credential_issued', { tool: 'sign', ...made }],
      ...running('sign'),
      thought,
    ],
    decisions: layersSay(words, { tool: 'sign' }),
    ran: [['sign', {}]],
  };
}

const why =
  'the credential for sign could not be issued: the role may not be assumed; check its trust policy and external_id';

const uncredited: Outcome = {
  state: 'failed',
  text: why,
  events: [thought, ['credential_failed', { tool: 'sign', provider: 'sts_assume_role' }]],
  decisions: layersSay({ credentials: ['deny', why] }, { tool: 'sign' }),
};

describe.each(transports)('credentials, over %s:', (transport) => {
  it('come from the environment, and are redacted in the output', async () => {
    const scenario: Scenario = { settings: { credentials: stored }, env, script };
    const words = { credentials: ['allow', 'issued by static'] } as const;
    await expectOutcome(
      transport,
      scenario,
      signed('got key=[redacted:credential] id=', { provider: 'static' }, { ...words } as never),
    );
  });

  it('come from the token service, each part redacted', async () => {
    const sts = await fakeSts(answers.issued);
    await expectOutcome(
      transport,
      { settings: { credentials: assuming(sts.url) }, env, script },
      signed(
        'got key= id=[redacted:credential]',
        { provider: 'sts_assume_role', ttl: expect.toSatisfy((ttl) => ttl > 850 && ttl <= 900) },
        { credentials: ['allow', 'issued by sts_assume_role'] },
      ),
    );
    expect(sts.requests).toHaveLength(1);
  });

  it('that the token service refuses prevent the run of the tool', async () => {
    const sts = await fakeSts(answers.denied);
    const settings = { credentials: assuming(sts.url) };
    const agent = await expectOutcome(transport, { settings, env, script }, uncredited);
    expect(agent.log).toEqual([
      {
        level: 'warn',
        message: 'credential: could not be issued',
        fields: {
          tool: 'sign',
          provider: 'sts_assume_role',
          task_id: 't1',
          call_id: expect.any(String),
          reason: 'the role may not be assumed; check its trust policy and external_id',
          status: 403,
        },
      },
    ]);
  });

  it('are issued after the approval, and once', async () => {
    const sts = await fakeSts(answers.issued);
    await expectOutcome(
      transport,
      {
        settings: { security: { defer: hold }, credentials: assuming(sts.url) },
        env,
        script,
        decision: { decision: 'approve', approver: 'ann' },
        whileHeld: async () => expect(sts.requests).toEqual([]),
      },
      {
        ...signed('got key= id=[redacted:credential]', {}, {}),
        events: [
          thought,
          waits('tool=sign args={}', { tool: 'sign' }),
          decided('approve', { tool: 'sign' }),
          [
            'credential_issued',
            { tool: 'sign', provider: 'sts_assume_role', ttl: expect.any(Number) },
          ],
          ...running('sign'),
          thought,
        ],
        decisions: layersSay(
          { ...heldWords, credentials: ['allow', 'issued by sts_assume_role'] },
          { tool: 'sign' },
        ),
        states: ['deferred', 'completed'],
      },
    );
    expect(sts.requests).toHaveLength(1);
  });

  it('are not issued for a rejected call', async () => {
    const sts = await fakeSts(answers.issued);
    await expectOutcome(
      transport,
      {
        settings: { security: { defer: hold }, credentials: assuming(sts.url) },
        env,
        script,
        decision: { decision: 'reject', approver: 'ann' },
      },
      {
        state: 'failed',
        text: 'defer: rejected by ann',
        events: [
          thought,
          waits('tool=sign args={}', { tool: 'sign' }),
          decided('reject', { tool: 'sign' }),
        ],
        decisions: layersSay(heldWords, { tool: 'sign', last: 'defer' }),
        states: ['deferred', 'failed'],
      },
    );
    expect(sts.requests).toEqual([]);
  });

  it('that fail after an approval also prevent the run of the tool', async () => {
    const sts = await fakeSts(answers.denied);
    await expectOutcome(
      transport,
      {
        settings: { security: { defer: hold }, credentials: assuming(sts.url) },
        env,
        script,
        decision: { decision: 'approve', approver: 'ann' },
      },
      {
        ...uncredited,
        events: [
          thought,
          waits('tool=sign args={}', { tool: 'sign' }),
          decided('approve', { tool: 'sign' }),
          ['credential_failed', { tool: 'sign', provider: 'sts_assume_role' }],
        ],
        decisions: layersSay({ ...heldWords, credentials: ['deny', why] }, { tool: 'sign' }),
        states: ['deferred', 'failed'],
      },
    );
  });

  it('are passed only to their own tool', async () => {
    const other = [
      { tool: 'pay', provider: 'static', spec: { name: 'PAY_TOKEN', from_env: 'VAULT_KEY' } },
    ];
    await expectOutcome(
      transport,
      { settings: { credentials: other }, env, script },
      {
        ...signed('got key= id=', {}, {}),
        events: [thought, ...running('sign'), thought],
      },
    );
  });
});

describe('credentials without their variable', () => {
  it('stop the start of the agent', async () => {
    const starting = startGovernedAgent({ credentials: stored }, { env: {} });
    await expect(starting).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [
        {
          message:
            'the environment variable VAULT_KEY is not set; it must hold the value of PAY_TOKEN',
        },
      ],
    });
  });
});
