import { describe, expect, it } from 'vitest';
import { type GovernedSettings, startGovernedAgent } from '../../helpers/governed-agent.ts';

const guardrails = (rules: object): GovernedSettings => ({
  security: { guardrails: { enabled: true, ...rules } },
});

const rewriting = (rules: object): GovernedSettings => ({
  security: { modify: { enabled: true, tools: { pay: rules } } },
});

const rows: [string, GovernedSettings][] = [
  [
    'security.guardrails.deny_commands.0.pattern',
    guardrails({ deny_commands: [{ pattern: '(' }] }),
  ],
  [
    'security.guardrails.deny_prompts.0.pattern',
    guardrails({ deny_prompts: [{ pattern: '(?=x)' }] }),
  ],
  [
    'security.guardrails.deny_output.0.pattern',
    guardrails({ deny_output: [{ pattern: '[', action: 'redact' }] }),
  ],
  ['security.guardrails.redact.0', guardrails({ redact: ['emial'] })],
  ['security.guardrails.deny_tools', guardrails({ deny_tools: ['pay'] })],
  [
    'security.modify.tools.pay.arguments.0.replace.pattern',
    rewriting({ arguments: [{ path: 'to', replace: { pattern: '*', with: '' } }] }),
  ],
  [
    'security.modify.tools.pay.arguments.0.path',
    rewriting({ arguments: [{ path: 'a..b', set: 1 }] }),
  ],
  [
    'security.modify.tools.pay.output.0.replace.with',
    rewriting({ output: [{ replace: { pattern: 'x', with: '$2' } }] }),
  ],
  [
    'security.intent_alignment.base_url',
    { security: { intent_alignment: { enabled: true, provider: 'openai-compatible' } } },
  ],
  ['security.intent_alignment.api_key_env', { security: { intent_alignment: { enabled: true } } }],
  [
    'security.step_up.tools.pay',
    {
      security: { step_up: { enabled: true, tools: { pay: 'gold' }, acr_hierarchy: ['tin'] } },
      auth: { providers: [{ type: 'static_token', settings: { token: 'a-token' } }] },
    },
  ],
  [
    'credentials.0.spec.env.PAY_TOKEN.from_env',
    {
      credentials: [
        { tool: 'pay', provider: 'static', spec: { env: { PAY_TOKEN: { from_env: 'UNSET' } } } },
      ],
    },
  ],
  [
    'credentials.1.tool',
    {
      credentials: ['PATH_A', 'PATH_B'].map((name) => ({
        tool: 'pay',
        provider: 'static',
        spec: { name, from_env: 'SET' },
      })),
    },
  ],
];

describe('an agent does not start', () => {
  it.each(rows)('with a malformed %s, and names its place', async (path, settings) => {
    await expect(
      startGovernedAgent(settings, { env: { SET: 'set-to-this' } }),
    ).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [
        { path, file: 'service.yaml', line: expect.any(Number), message: expect.any(String) },
      ],
    });
  });

  it('with malformed guardrails of a skill, and names their place', async () => {
    const metadata = ['metadata:', '  service:', '    guardrails:', '      denied: [pay]'];
    await expect(startGovernedAgent({}, { metadata })).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [{ file: 'SKILL.md', line: 7, message: expect.stringContaining('unknown key') }],
    });
  });
});
