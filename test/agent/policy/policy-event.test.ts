import { expect, it } from 'vitest';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { compileGuardrails } from '../../../src/actors/governance/guardrails/guardrails.ts';
import { policyEvent } from '../../../src/agent/policy/policy-event.ts';

it('the policy event names no layer of an agent without layers', () => {
  expect(
    policyEvent(serviceSchema.parse({ agent_id: 'x' }), null, [], { policySha256: 'abc' }),
  ).toEqual({
    event: 'policy_loaded',
    fields: {
      version: '0.0.0',
      policy_sha256: 'abc',
      layers: [],
      deferred_tools: [],
      egress: 'allowlist',
    },
  });
});

it('the policy event names every active layer, and the held tools', () => {
  const hold = { to: 'channel:console:*' };
  const config = serviceSchema.parse({
    agent_id: 'x',
    version: '1.2.0',
    security: {
      intent_alignment: { enabled: true, provider: 'local' },
      step_up: { enabled: true, tools: { pay: 'gold' } },
      modify: { enabled: true },
      defer: {
        enabled: true,
        tools: {
          pay: hold,
          'close-all': hold,
          'comes-later': hold,
          look: { ...hold, shadow: true },
        },
      },
      limits: { a_day: { tools: ['pay'], per: '24h', max: 5, over: 'deny' } },
      effects: { pay: { key: 'pay:{args.order}' } },
    },
    credentials: [{ tool: 'pay', provider: 'static' }],
    audit: { capture: { tool_args: true, llm_messages: true } },
    egress: { mode: 'dev-open' },
    mcp: {
      servers: [
        { name: 'shop', command: 'node', tools: { deny: ['refund'] } },
        { name: 'files', url: 'https://files.example.com/mcp', tools: { allow: ['read'] } },
      ],
    },
  });
  const compiled = compileGuardrails(config.security.guardrails);
  const guardrails = compiled.ok ? compiled.guardrails : null;
  expect(
    policyEvent(config, guardrails, ['pay', 'close_all', 'look'], {
      policySha256: 'abc',
      sandbox: 'bwrap',
    }).fields,
  ).toEqual({
    version: '1.2.0',
    policy_sha256: 'abc',
    layers: [
      ...['guardrails', 'intent_alignment', 'step_up', 'modify', 'defer', 'credentials'],
      ...['limits', 'effects'],
    ],
    deferred_tools: ['close_all', 'pay'],
    shadow: ['defer.tools.look'],
    capture: ['tool_args', 'llm_messages'],
    egress: 'dev-open',
    mcp: [
      { server: 'shop', deny: ['refund'] },
      { server: 'files', allow: ['read'] },
    ],
    sandbox: 'bwrap',
  });
});
