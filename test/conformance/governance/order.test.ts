import { describe, expect, it } from 'vitest';
import { startServer, vectorsBody } from '../../actors/governance/alignment/embedding-server.ts';
import { fakeSts, refusal } from '../../actors/governance/credentials/fake-sts.ts';
import type { GovernedSettings } from '../../helpers/governed-agent.ts';
import {
  expectOutcome,
  type Outcome,
  type Transport,
  transports,
} from '../../helpers/governed-run.ts';
import {
  decided,
  judged,
  layersSay,
  ruleMatched,
  running,
  thought,
  waits,
} from '../../helpers/governed-words.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const env = { BASE_ID: 'AKIDBASE0001', BASE_SECRET: 'base-secret-0001' };
const token = 'token-without-acr';

/** The servers that layers ask. */
interface Servers {
  embedder: string;
  tokenService: string;
}

/** How a layer is made to object, and what comes of it when none before it does. */
interface Objection {
  settings: (servers: Servers) => GovernedSettings;
  outcome: Outcome;
}

const guardrails = (rules: object): GovernedSettings => ({
  security: { guardrails: { enabled: true, ...rules } },
});

/** What comes of a call that a layer denies in words of its own. */
function denied(layer: string, text: string, ...events: Outcome['events']): Outcome {
  return {
    state: 'failed',
    text,
    events: [thought, ...events],
    decisions: layersSay({ [layer]: ['deny', text] }),
  };
}

const unmodifiable = 'MODIFY made arguments that may not run: pay: argument amount is missing';
const misaligned = 'score 0.00 is below the hard threshold 0.30';
const uncredited =
  'the credential for pay could not be issued: the role may not be assumed; check its trust policy and external_id';
const unassured = { tool: 'pay', required_acr: 'gold' };

/** Every layer in the order in which they are asked. */
const objections = {
  prompt: {
    settings: () => guardrails({ deny_prompts: [{ pattern: 'Maja' }] }),
    outcome: {
      state: 'failed',
      text: 'denied by guardrail: Maja',
      events: [ruleMatched('deny_prompts', 'deny_prompts[0]', 'deny', null)],
      decisions: [{ layer: 'prompt', decision: 'deny', reason: 'denied by guardrail: Maja' }],
    },
  },
  'denied tool': {
    settings: () => guardrails({ denied_tools: ['pay'] }),
    outcome: denied(
      'intent_alignment',
      'denied by guardrail: pay is a denied tool',
      ruleMatched('denied_tools', 'denied_tools[0]'),
    ),
  },
  alignment: {
    settings: ({ embedder }) => ({
      security: {
        intent_alignment: {
          enabled: true,
          provider: 'openai-compatible',
          base_url: `${embedder}/v1`,
        },
      },
    }),
    outcome: denied(
      'intent_alignment',
      `denied by intent alignment: ${misaligned}`,
      judged('deny', 0, misaligned),
    ),
  },
  'step-up': {
    settings: () => ({
      security: { step_up: { enabled: true, tools: { pay: 'gold' } } },
      auth: {
        required: true,
        providers: [
          { type: 'static_token', settings: { token, identity: { user_id: 'rita', claims: {} } } },
        ],
      },
    }),
    outcome: {
      state: 'failed',
      text: 'step-up required for pay: needs acr "gold"; no acr claim presented',
      stepUp: { ...unassured, reason: 'no acr claim presented' },
      events: [
        thought,
        ['auth_step_up_required', { ...unassured, reason: 'no acr claim presented' }],
      ],
      decisions: layersSay({ step_up: ['step_up', 'no acr claim presented'] }),
    },
  },
  MODIFY: {
    settings: () => ({
      security: {
        modify: {
          enabled: true,
          tools: { pay: { arguments: [{ path: 'amount', remove: true }] } },
        },
      },
    }),
    outcome: denied('modify', unmodifiable, ruleMatched('arguments', 'schema')),
  },
  DEFER: {
    settings: () => ({
      security: {
        defer: { enabled: true, tools: { pay: { to: 'channel:console:desk', timeout: '5m' } } },
      },
    }),
    outcome: {
      state: 'failed',
      text: 'defer: rejected by ann',
      events: [thought, waits('tool=pay args={"amount":5}'), decided('reject')],
      decisions: layersSay(
        { defer: ['defer', 'awaiting channel:console:desk'] },
        { last: 'defer' },
      ),
      states: ['deferred', 'failed'],
    },
  },
  credentials: {
    settings: ({ tokenService }) => ({
      credentials: [
        {
          tool: 'pay',
          provider: 'sts_assume_role',
          spec: {
            role_arn: 'arn:aws:iam::123456789012:role/refunds',
            region: 'eu-central-1',
            endpoint: tokenService,
            access_key_env: 'BASE_ID',
            secret_key_env: 'BASE_SECRET',
          },
        },
      ],
    }),
    outcome: denied('credentials', uncredited, [
      'credential_failed',
      { tool: 'pay', provider: 'sts_assume_role' },
    ]),
  },
  output: {
    settings: () => guardrails({ deny_output: [{ pattern: 'amount', action: 'block' }] }),
    outcome: {
      ...denied('output', 'denied by guardrail: amount'),
      events: [
        thought,
        ...running('pay', 'denied by guardrail: amount', 'succeeded'),
        ruleMatched('deny_output', 'deny_output[0]', 'block'),
      ],
      ran: [['pay', { amount: 5 }]],
    },
  },
} satisfies Record<string, Objection>;

type LayerName = keyof typeof objections;
const layers = Object.keys(objections) as LayerName[];

/** Has these layers object and expects that the first alone is heard, and that only it asked a server. */
async function expectFirst(transport: Transport, names: LayerName[]): Promise<void> {
  const [first] = names;
  if (first === undefined) throw new Error('no layer objects');
  const embedder = await startServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      vectorsBody([
        [1, 0],
        [0, 1],
      ]),
    ),
  );
  const sts = await fakeSts(() => ({ status: 403, body: refusal('AccessDenied', 'no') }));
  const servers = { embedder: embedder.address, tokenService: sts.url };
  await expectOutcome(
    transport,
    {
      settings: names.map((name) => objections[name].settings(servers)).reduce(merged),
      env,
      script,
      ...(names.includes('step-up') ? { token } : {}),
      ...(first === 'DEFER' ? { decision: { decision: 'reject', approver: 'ann' } } : {}),
    },
    objections[first].outcome,
  );
  expect({ embedder: embedder.seen.length, sts: sts.requests.length }).toEqual({
    embedder: first === 'alignment' ? 1 : 0,
    sts: first === 'credentials' ? 1 : 0,
  });
}

describe.each(transports)('when every layer from one on objects, over %s,', (transport) => {
  it.each(layers)('only %s is asked', async (layer) => {
    await expectFirst(transport, layers.slice(layers.indexOf(layer)));
  });
});

const pairs = layers.flatMap((earlier, index) =>
  layers.slice(index + 1).map((later) => [earlier, later] as const),
);

describe('of two layers that object', () => {
  it.each(pairs)('%s is asked and %s is not', async (earlier, later) => {
    await expectFirst('REST', [earlier, later]);
  });
});

/** Puts two settings together, level by level. */
function merged<Settings extends object>(one: Settings, other: Settings): Settings {
  const entries = Object.entries(other).map(([key, value]) => {
    const before = (one as Record<string, unknown>)[key];
    return [key, isMap(before) && isMap(value) ? merged(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
