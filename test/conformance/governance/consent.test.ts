import { describe, expect, it } from 'vitest';
import { startServer, vectorsBody } from '../../actors/governance/alignment/embedding-server.ts';
import { assumedRole, fakeSts } from '../../actors/governance/credentials/fake-sts.ts';
import { expectOutcome, transports } from '../../helpers/governed-run.ts';
import {
  decided,
  judged,
  layersSay,
  rewritten,
  ruleMatched,
  running,
  thought,
  waits,
} from '../../helpers/governed-words.ts';

const token = 'token-of-gold';
const env = { BASE_ID: 'AKIDBASE0001', BASE_SECRET: 'base-secret-0001' };

/** Settings under which every layer has its say on `pay` and none objects. */
function everything(embedder: string, tokenService: string) {
  return {
    auth: {
      required: true,
      providers: [
        {
          type: 'static_token',
          settings: { token, identity: { user_id: 'rita', claims: { acr: 'gold' } } },
        },
      ],
    },
    security: {
      intent_alignment: {
        enabled: true,
        provider: 'openai-compatible',
        base_url: `${embedder}/v1`,
        drift: { window: 2, monotone_n: 2 },
      },
      step_up: { enabled: true, tools: { pay: 'gold' } },
      modify: {
        enabled: true,
        tools: {
          pay: {
            arguments: [{ path: 'to', set: 'maja@example.com' }],
            output: [{ replace: { pattern: 'amount', with: 'sum' } }],
          },
        },
      },
      guardrails: {
        enabled: true,
        deny_prompts: [{ pattern: 'forbidden' }],
        deny_commands: [{ pattern: 'Eve' }],
        denied_tools: ['fall'],
        deny_output: [{ pattern: 'forbidden', action: 'block' }],
        redact: ['email'],
      },
      defer: {
        enabled: true,
        tools: { pay: { to: 'channel:console:desk', timeout: '5m' } },
      },
    },
    credentials: [
      {
        tool: 'pay',
        provider: 'sts_assume_role',
        spec: {
          role_arn: 'arn:aws:iam::123456789012:role/refunds',
          endpoint: tokenService,
          access_key_env: 'BASE_ID',
          secret_key_env: 'BASE_SECRET',
        },
      },
    ],
  };
}

describe.each(transports)('when no layer objects, over %s,', (transport) => {
  it('every layer is asked, in order', async () => {
    const embedder = await startServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        vectorsBody([
          [1, 0],
          [1, 0],
        ]),
      ),
    );
    const values = { key: 'ASIAEXAMPLE0001', secret: 'sts-secret-0001', token: 'sts-token-0001' };
    const expiration = new Date(Date.now() + 900_000).toISOString();
    const sts = await fakeSts(() => ({ status: 200, body: assumedRole(values, expiration) }));
    const args = { amount: 5, to: 'maja@example.com' };
    const reason = 'score 1.00 meets the threshold 0.50';
    await expectOutcome(
      transport,
      {
        settings: everything(embedder.address, sts.url),
        env,
        token,
        script: [{ tool: 'pay', args: { amount: 5, to: 'Maja' } }, { say: 'paid {result}' }],
        decision: { decision: 'approve', approver: 'ann' },
        whileHeld: async () => {
          expect([embedder.seen.length, sts.requests.length]).toEqual([1, 0]);
        },
      },
      {
        state: 'completed',
        text: 'paid {"sum":5,"to":"[redacted:email]"}',
        events: [
          thought,
          judged('allow', 1, reason),
          rewritten([1]),
          waits(`tool=pay args=${JSON.stringify({ ...args, to: '[redacted:email]' })}`),
          decided('approve', { provider: 'runtime', user_id: 'runtime' }),
          [
            'credential_issued',
            { tool: 'pay', provider: 'sts_assume_role', ttl: expect.any(Number) },
          ],
          ...running(),
          ruleMatched('redact', 'redact.email', 'redact'),
          rewritten([1], 'output'),
          thought,
        ],
        decisions: layersSay({
          intent_alignment: ['allow', reason],
          step_up: ['allow', 'acr is sufficient'],
          modify: [
            'modify',
            'rewritten by rule 1',
            [{ path: 'to', before: '"Maja"', after: '"[redacted:email]"' }],
          ],
          defer: ['defer', 'awaiting channel:console:desk'],
          credentials: ['allow', 'issued by sts_assume_role'],
          output: ['modify', 'rewritten by redact.email, modify output 1'],
        }),
        ran: [['pay', args]],
        states: ['deferred', 'completed'],
      },
    );
    expect([embedder.seen.length, sts.requests.length]).toEqual([1, 1]);
  });
});
