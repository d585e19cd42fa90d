import { createActor } from 'xstate';
import { compileGuardrails } from '../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../src/actors/governance/modify/modify.ts';
import { argsDigest } from '../src/actors/governance/policy/args-digest.ts';
import { createGovern } from '../src/actors/governance/policy/govern.ts';
import { securitySchema } from '../src/actors/governance/settings/schema-security.ts';
import type { Tool } from '../src/actors/ports/tool.ts';
import { randomIds } from '../src/actors/random-ids.ts';
import { systemClock } from '../src/actors/system-clock.ts';
import { createGovernance } from '../src/agent/policy/agent-governance.ts';
import type { ToolCall } from '../src/machines/domain/task.ts';
import type { Figure } from './figure.ts';

const runs = 20_000;
const warmUp = 2_000;

const tool: Tool = {
  name: 'issue_refund',
  description: 'Pays money back to a customer.',
  parameters: { type: 'object' },
  idempotent: false,
  run: () => Promise.resolve('done'),
};
const tools = new Map([[tool.name, tool]]);

const everyLayer = {
  guardrails: {
    enabled: true,
    deny_commands: [{ pattern: 'rm\\s+-rf' }, { pattern: '(?i)drop\\s+table' }],
    deny_output: [{ pattern: 'PRIVATE KEY', action: 'block' }],
    denied_tools: ['cli_execute'],
    redact: ['secrets', 'pii'],
  },
  step_up: { enabled: true, tools: { issue_refund: 'gold' }, acr_hierarchy: ['silver', 'gold'] },
  modify: {
    enabled: true,
    tools: { issue_refund: { arguments: [{ path: 'currency', set: 'EUR' }] } },
  },
  defer: { enabled: true, tools: { other: { to: 'channel:console:*' } } },
};

const secret = 'key-of-the-shop-7f3a';
const credentials = [
  {
    tool: 'issue_refund',
    provider: 'static',
    optional: false,
    spec: { env: { SHOP_KEY: { from_env: 'SHOP_KEY' } } },
  },
] as const;

const args = { order_id: 'A-1042', amount: 5, reason: 'it arrived broken' };
const call: ToolCall = {
  id: 'call',
  tool: tool.name,
  args,
  argsSha256: argsDigest(tool.name, args),
};
const output = JSON.stringify({ order: 'A-1042', paid: true, lines: Array(20).fill('a line') });

/** What governance costs a call that it allows: with nothing configured, and with every layer but alignment. */
export async function governanceFigures(): Promise<Figure[]> {
  return [
    figure('a call it allows, nothing configured', await timesOf({}, [])),
    figure('a call it allows, every layer but alignment', await timesOf(everyLayer, credentials)),
  ];
}

async function timesOf(layers: object, configured: readonly (typeof credentials)[number][]) {
  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: console.error };
  const security = securitySchema.parse(layers);
  const guardrails = compileGuardrails(security.guardrails);
  const modify = compileModify(security.modify);
  const { policy, issuer } = createGovernance({
    config: { agent_id: 'bench', security, credentials: [...configured], auth: { providers: [] } },
    isAuthOn: false,
    tools,
    guardrails: security.guardrails.enabled && guardrails.ok ? guardrails.guardrails : null,
    modify: security.modify.enabled && modify.ok ? modify.modify : null,
    scrub: (text) => text,
    env: { SHOP_KEY: secret },
    clock: systemClock(),
    log,
  });
  const logic = createGovern({ policy, scorer: null, tools, ids: randomIds(), log });
  const requester = { provider: 'ops', userId: 'ann', acr: 'gold' };
  const request = { role: 'user', parts: [], messageId: 'm' } as const;
  const input = {
    taskId: 't',
    call,
    request: { ...request, parts: [] },
    requester,
    scores: [],
    now: 0,
  };
  const { signal } = new AbortController();
  const times: number[] = [];
  for (let run = 0; run < warmUp + runs; run += 1) {
    const began = performance.now();
    const ruling = createActor(logic, { input }).start().getSnapshot().output;
    if (ruling?.kind !== 'allow') throw new Error(`the call was not allowed: ${ruling?.kind}`);
    const minted =
      ruling.credential === null
        ? null
        : await issuer?.issue({ tool: tool.name, taskId: 't', callId: call.id, signal });
    const secrets = minted?.secretValues() ?? [];
    const checked = await policy.checkOutput(tool.name, output, secrets, signal);
    if (checked.kind !== 'passed') throw new Error('the output was withheld');
    minted?.revoke();
    if (run >= warmUp) times.push((performance.now() - began) * 1_000);
  }
  return times.toSorted((one, other) => one - other);
}

function figure(what: string, times: number[]): Figure {
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(0);
  return {
    what: `governance: ${what}`,
    measured: `p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`,
    aim: '',
  };
}
