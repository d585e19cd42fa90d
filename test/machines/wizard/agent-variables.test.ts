import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  type FallbackAnswer,
  firstAnswers,
} from '../../../src/machines/wizard/agent-answers.ts';
import {
  type AgentVariable,
  agentVariables,
  fallbackVariable,
  modelVariable,
} from '../../../src/machines/wizard/agent-variables.ts';

function answers(more: Partial<AgentAnswers>): AgentAnswers {
  return { ...firstAnswers, tools: { ...firstAnswers.tools, names: [] }, ...more };
}

function keyed(provider: string, key: string, more: Partial<AgentAnswers> = {}): AgentAnswers {
  return answers({ provider, model: { ...firstAnswers.model, key }, ...more });
}

function fallback(provider: string, key: string): FallbackAnswer {
  return { provider, name: 'm', address: '', key };
}

describe('the key of the model', () => {
  const named = { security: { variables: { MODEL_API_KEY: '' }, passphrase: '' } };

  it.each<[string, AgentAnswers, string | null]>([
    ['scripted', keyed('scripted', ''), null],
    ['openai', keyed('openai', ''), 'OPENAI_API_KEY'],
    ['anthropic', keyed('anthropic', 'k'), 'ANTHROPIC_API_KEY'],
    ['google', keyed('google', ''), 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['ollama', keyed('ollama', 'k'), null],
    ['an unknown provider', keyed('vax', 'k'), null],
    ['a custom server without a key', keyed('openai-compatible', ''), null],
    ['a custom server with a key', keyed('openai-compatible', 'k'), 'MODEL_API_KEY'],
    [
      'a custom server whose variable is named',
      keyed('openai-compatible', '', named),
      'MODEL_API_KEY',
    ],
    ['ollama, although its variable is set', keyed('ollama', '', named), null],
  ])('of %s is stored as %j', (_, given, name) => {
    expect(modelVariable(given)).toBe(name);
  });
});

describe('the key of a fallback', () => {
  it.each<[string, AgentAnswers, (string | null)[]]>([
    [
      'has the default variable of its provider',
      keyed('scripted', '', { fallback: [fallback('openai', 'a'), fallback('google', 'b')] }),
      ['OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ],
    [
      'has no variable where no key is needed',
      keyed('openai', '', {
        fallback: [fallback('ollama', 'a'), fallback('ollama', 'b'), fallback('vax', 'b')],
      }),
      [null, null, null],
    ],
    [
      'has no variable for a custom server without a key',
      keyed('openai', '', {
        fallback: [fallback('openai-compatible', ''), fallback('openai-compatible', 'k')],
      }),
      [null, 'FALLBACK_2_API_KEY'],
    ],
    [
      'shares the variable of the model when the key is equal or omitted',
      keyed('openai', 'a', { fallback: [fallback('openai', 'a'), fallback('openai', '')] }),
      ['OPENAI_API_KEY', 'OPENAI_API_KEY'],
    ],
    [
      'has a separate variable when it differs from the key of the model',
      keyed('openai', 'a', { fallback: [fallback('openai', 'b'), fallback('openai', 'c')] }),
      ['FALLBACK_1_API_KEY', 'FALLBACK_2_API_KEY'],
    ],
    [
      'has a separate variable when it differs from the key of an earlier fallback',
      keyed('anthropic', 'x', {
        fallback: [fallback('google', 'a'), fallback('openai', 'a'), fallback('google', 'b')],
      }),
      ['GOOGLE_GENERATIVE_AI_API_KEY', 'OPENAI_API_KEY', 'FALLBACK_3_API_KEY'],
    ],
  ])('%s', (_, given, names) => {
    expect(given.fallback.map((__, index) => fallbackVariable(given, index))).toEqual(names);
  });

  it('has no variable without a fallback', () => {
    expect(fallbackVariable(keyed('openai', 'a'), 0)).toBeNull();
  });
});

describe('the variables of an agent', () => {
  it('are empty for a scripted model', () => {
    expect(agentVariables(firstAnswers)).toEqual([]);
  });

  it('are in the order of the steps, including those that the environment must have', () => {
    const given = keyed('openai', 'sk-1', {
      channels: {
        slack: { bot_token: ' xoxb-1 ', app_token: ['xapp-1'] },
        telegram: { allowed_users: ['@ann'] },
        webhook: { target: 'ops', url: 'https://ops.example.com', secret: 'a secret' },
        sms: { bot_token: 'x' },
      },
      tools: { names: ['web_search'], search: 'perplexity', key: 'pplx', commands: [] },
      skills: { names: [], variables: { GITHUB_TOKEN: 'gh' } },
      fallback: [fallback('ollama', ''), fallback('openai', 'sk-2')],
      security: { variables: { SHOP_KEY: 'shop', GITHUB_TOKEN: 'other' }, passphrase: '' },
    });
    expect(agentVariables(given)).toEqual<AgentVariable[]>([
      { name: 'OPENAI_API_KEY', value: 'sk-1', source: 'model' },
      { name: 'SLACK_BOT_TOKEN', value: 'xoxb-1', source: 'channels' },
      { name: 'TELEGRAM_BOT_TOKEN', value: '', source: 'channels' },
      { name: 'WEBHOOK_SECRET', value: 'a secret', source: 'channels' },
      { name: 'PERPLEXITY_API_KEY', value: 'pplx', source: 'tools' },
      { name: 'GITHUB_TOKEN', value: 'gh', source: 'skills' },
      { name: 'FALLBACK_2_API_KEY', value: 'sk-2', source: 'fallback' },
      { name: 'SHOP_KEY', value: 'shop', source: 'security' },
      { name: 'GITHUB_TOKEN', value: 'other', source: 'security' },
    ]);
  });

  it.each<[string, string[], string, AgentVariable[]]>([
    [
      'a search',
      ['web_search'],
      'tavily',
      [{ name: 'TAVILY_API_KEY', value: 'k', source: 'tools' }],
    ],
    ['no search', ['web_fetch'], 'tavily', []],
    ['a search with an unknown service', ['web_search'], 'vax', []],
  ])('are those of %s', (_, names, search, variables) => {
    expect(agentVariables(answers({ tools: { names, search, key: 'k', commands: [] } }))).toEqual(
      variables,
    );
  });
});
