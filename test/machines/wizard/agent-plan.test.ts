import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
} from '../../../src/machines/wizard/agent-answers.ts';
import { type AgentPlan, agentPlan } from '../../../src/machines/wizard/agent-plan.ts';

const named: AgentAnswers = { ...firstAnswers, name: 'Refund Desk' };

/** The plan of answers that nothing was chosen in but the name. */
const smallest: AgentPlan = {
  agentId: 'refund-desk',
  service: {
    agent_id: 'refund-desk',
    version: '0.1.0',
    description: 'The agent refund-desk',
    audit: { sign: true },
    model: { provider: 'scripted' },
    builtin_tools: ['datetime_now'],
  },
  note: '',
  channelFiles: {},
  variables: new Map(),
  missing: [],
  skills: [],
  passphrase: '',
};

const rich: AgentAnswers = {
  name: 'Refund Desk',
  provider: 'openai',
  model: { name: ' gpt-5 ', address: '', key: '', session: '', organization: ' org-1 ' },
  channels: {
    slack: { bot_token: 'xoxb-1' },
    telegram: { bot_token: '12:ab', allowed_users: [' @ann ', '', '42'] },
    webhook: { target: ' ops ', url: ' https://ops.example.com/x ' },
  },
  tools: {
    names: ['web_search', 'cli_execute'],
    search: 'perplexity',
    key: 'pplx',
    commands: ['jq', 'pandoc'],
  },
  skills: { names: ['github'], variables: { GITHUB_TOKEN: '', GITHUB_ORG: 'acme' } },
  fallback: [
    { provider: 'ollama', name: ' qwen3 ', address: ' http://127.0.0.1:11434 ', key: '' },
    { provider: 'anthropic', name: 'claude-sonnet-4-5', address: '', key: 'sk-a' },
  ],
  auth: { mode: 'oidc', settings: { issuer: 'https://id.example.com', audience: ['refunds'] } },
  egress: { mode: 'dev-open', hosts: ['API.example.com', 'api.example.com', '*.Example.org'] },
  security: { variables: { SHOP_KEY: 'shop', REGION: '' }, passphrase: 'long enough' },
  approvals: {
    web_search: firstApproval,
    cli_execute: {
      to: 'channel:slack:#ops',
      timeout: '1h30m',
      quorum: 2,
      approvers: ['ann@example.com', 'bob@example.com'],
    },
  },
};

describe('the plan of an agent', () => {
  it('with only a name is minimal', () => {
    expect(agentPlan(named)).toEqual(smallest);
  });

  it('with every answer contains all of them', () => {
    expect(agentPlan(rich)).toEqual<AgentPlan>({
      agentId: 'refund-desk',
      service: {
        agent_id: 'refund-desk',
        version: '0.1.0',
        description: 'The agent refund-desk',
        audit: { sign: true },
        model: {
          provider: 'openai',
          name: 'gpt-5',
          organization_id: 'org-1',
          fallbacks: [
            { provider: 'ollama', name: 'qwen3', base_url: 'http://127.0.0.1:11434' },
            { provider: 'anthropic', name: 'claude-sonnet-4-5' },
          ],
        },
        instructions: 'You are a helpful agent. Answer in a few sentences.',
        builtin_tools: ['web_search', 'cli_execute'],
        tools: [
          { name: 'web_search', config: { provider: 'perplexity' } },
          { name: 'cli_execute', config: { commands: ['jq', 'pandoc'] } },
        ],
        channels: ['slack', 'telegram', 'webhook'],
        egress: { mode: 'dev-open', allowed_domains: ['api.example.com', '*.example.org'] },
        auth: {
          providers: [
            { type: 'oidc', settings: { issuer: 'https://id.example.com', audience: 'refunds' } },
          ],
        },
        security: {
          defer: {
            enabled: true,
            tools: {
              web_search: { to: 'channel:console:*', timeout: '5m' },
              cli_execute: {
                to: 'channel:slack:#ops',
                timeout: '1h30m',
                quorum: 2,
                approvers: ['ann@example.com', 'bob@example.com'],
              },
            },
          },
        },
      },
      note: '',
      channelFiles: {
        'telegram-config.yaml': {
          adapter: 'telegram',
          settings: { allowed_users: ['@ann', '42'] },
        },
        'webhook-config.yaml': {
          adapter: 'webhook',
          settings: {
            targets: { ops: { url: 'https://ops.example.com/x', secret_env: 'WEBHOOK_SECRET' } },
          },
        },
      },
      variables: new Map([
        ['SLACK_BOT_TOKEN', 'xoxb-1'],
        ['TELEGRAM_BOT_TOKEN', '12:ab'],
        ['PERPLEXITY_API_KEY', 'pplx'],
        ['GITHUB_ORG', 'acme'],
        ['ANTHROPIC_API_KEY', 'sk-a'],
        ['SHOP_KEY', 'shop'],
      ]),
      missing: ['OPENAI_API_KEY', 'SLACK_APP_TOKEN', 'WEBHOOK_SECRET'],
      skills: ['github'],
      passphrase: 'long enough',
    });
  });

  it('that is edited by hand ends with the sign-in method', () => {
    const settings = { issuer: 'https://id.example.com' };
    expect(agentPlan({ ...named, auth: { mode: 'custom', settings } })).toEqual({
      ...smallest,
      note: [
        ' Write your own authentication, such as:',
        ' auth:',
        '   providers:',
        '     - type: oidc',
        '       settings: {issuer: https://id.example.com, audience: this-agent}',
      ].join('\n'),
    });
  });

  it('escapes a typed ${, so that it names no variable', () => {
    const plan = agentPlan({
      ...named,
      provider: 'openai',
      model: { ...firstAnswers.model, name: '${A}${B} $C', key: 'k${D}' },
      auth: {
        mode: 'oidc',
        settings: { audience: ['${E}', 'e'], claim_map: { email: '$${F}' } },
      },
      channels: { telegram: { allowed_users: ['${G}'] } },
      approvals: {
        datetime_now: { ...firstApproval, to: 'channel:slack:${H}', quorum: 2 },
      },
    });
    expect(plan).toEqual({
      ...smallest,
      service: {
        ...smallest.service,
        model: { provider: 'openai', name: '$${A}$${B} $C' },
        instructions: 'You are a helpful agent. Answer in a few sentences.',
        channels: ['telegram'],
        auth: {
          providers: [
            {
              type: 'oidc',
              settings: { audience: ['$${E}', 'e'], claim_map: { email: '$$${F}' } },
            },
          ],
        },
        security: {
          defer: {
            enabled: true,
            tools: { datetime_now: { to: 'channel:slack:$${H}', timeout: '5m', quorum: 2 } },
          },
        },
      },
      channelFiles: {
        'telegram-config.yaml': { adapter: 'telegram', settings: { allowed_users: ['$${G}'] } },
      },
      variables: new Map([['OPENAI_API_KEY', 'k${D}']]),
      missing: ['TELEGRAM_BOT_TOKEN'],
    });
  });
});

describe('the variables of a plan', () => {
  const fallback = [{ provider: 'openai', name: 'gpt-5-mini', address: '', key: '' }];
  const asks = {
    ...named,
    provider: 'openai',
    tools: { ...firstAnswers.tools, names: ['web_search'] },
  };
  const key = { variables: { OPENAI_API_KEY: 'sk-1' }, passphrase: '' };
  const session = { ...firstAnswers.model, session: 'a state' };

  it.each<[string, AgentAnswers, Record<string, string>, string[]]>([
    [
      'are missing once each when no source has them',
      { ...asks, fallback },
      {},
      ['OPENAI_API_KEY', 'TAVILY_API_KEY'],
    ],
    [
      'are present when another step has them',
      { ...asks, fallback, security: key },
      { OPENAI_API_KEY: 'sk-1' },
      ['TAVILY_API_KEY'],
    ],
    ['are not missing after a sign-in', { ...asks, model: session }, {}, ['TAVILY_API_KEY']],
    [
      'are not missing when they are optional or only named',
      {
        ...named,
        skills: { names: ['github'], variables: { GITHUB_TOKEN: '' } },
        security: { variables: { SHOP_KEY: '' }, passphrase: '' },
      },
      {},
      [],
    ],
  ])('%s', (_, answers, kept, missing) => {
    const plan = agentPlan(answers);
    expect([plan.variables, plan.missing]).toEqual([new Map(Object.entries(kept)), missing]);
  });
});
