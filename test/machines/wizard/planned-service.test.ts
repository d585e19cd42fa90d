import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/machines/json.ts';
import { type AgentAnswers, firstAnswers } from '../../../src/machines/wizard/agent-answers.ts';
import { agentPlan } from '../../../src/machines/wizard/agent-plan.ts';

function service(more: Partial<AgentAnswers>): JsonObject {
  return agentPlan({ ...firstAnswers, name: 'x', ...more }).service ?? {};
}

describe('the model section of the service file', () => {
  const model = { name: 'm', address: ' https://m.example.com/v1 ', key: 'k', session: '' };
  const whole = { ...model, organization: ' ' };
  const keyless = { ...whole, address: '', key: '' };
  const base = 'https://m.example.com/v1';

  it.each<[string, Partial<AgentAnswers>, JsonObject]>([
    ['is a script', { provider: 'scripted', model: whole }, { provider: 'scripted' }],
    [
      'is OpenAI with its default address and variable and without a blank organisation',
      { provider: 'openai', model: { ...whole, address: '' } },
      { provider: 'openai', name: 'm' },
    ],
    [
      'is OpenAI at the address of a gateway',
      { provider: 'openai', model: whole },
      { provider: 'openai', name: 'm', base_url: base },
    ],
    [
      'is Ollama at another address',
      { provider: 'ollama', model: whole },
      { provider: 'ollama', name: 'm', base_url: base },
    ],
    [
      'is Ollama at its default address',
      { provider: 'ollama', model: keyless },
      { provider: 'ollama', name: 'm' },
    ],
    [
      'is a custom server with its key',
      { provider: 'openai-compatible', model: whole },
      {
        provider: 'openai-compatible',
        name: 'm',
        base_url: base,
        api_key_env: 'MODEL_API_KEY',
      },
    ],
    [
      'is a custom server without a key',
      { provider: 'openai-compatible', model: { ...whole, key: '' } },
      { provider: 'openai-compatible', name: 'm', base_url: base },
    ],
    [
      'is an unknown provider, as typed',
      { provider: 'vax', model: whole },
      { provider: 'vax', name: 'm', base_url: base },
    ],
  ])('%s', (_, more, written) => {
    expect(service(more)['model']).toEqual(written);
  });

  it('names the variable of a fallback where it is not the default one', () => {
    const one = { name: 'm', address: '', key: '' };
    const fallback = [
      { ...one, provider: 'openai', key: 'another' },
      { ...one, provider: 'google' },
      { ...one, provider: 'openai-compatible', address: base, key: 'k' },
    ];
    expect(
      service({ provider: 'openai', model: { ...keyless, key: 'k' }, fallback })['model'],
    ).toEqual({
      provider: 'openai',
      name: 'm',
      fallbacks: [
        { provider: 'openai', name: 'm', api_key_env: 'FALLBACK_1_API_KEY' },
        { provider: 'google', name: 'm' },
        {
          provider: 'openai-compatible',
          name: 'm',
          base_url: base,
          api_key_env: 'MODEL_API_KEY',
        },
      ],
    });
  });
});

describe('the tool settings of the service file', () => {
  const given = { search: 'perplexity', key: '', commands: ['jq'] };

  it.each<[string, AgentAnswers['tools'], JsonObject[] | undefined]>([
    ['are empty for tools without settings', { ...given, names: ['glob_search'] }, undefined],
    [
      'are empty for the default search',
      { ...given, names: ['web_search'], search: 'tavily' },
      undefined,
    ],
    [
      'name another search',
      { ...given, names: ['web_search'] },
      [{ name: 'web_search', config: { provider: 'perplexity' } }],
    ],
    [
      'name the programs',
      { ...given, names: ['cli_execute'] },
      [{ name: 'cli_execute', config: { commands: ['jq'] } }],
    ],
  ])('%s', (_, tools, settings) => {
    expect(service({ tools })).toEqual({
      ...service({}),
      builtin_tools: tools.names,
      ...(settings === undefined ? {} : { tools: settings }),
    });
  });
});

describe('the egress section of the service file', () => {
  it.each<[AgentAnswers['egress'], JsonObject | undefined]>([
    [{ mode: 'allowlist', hosts: [] }, undefined],
    [{ mode: 'allowlist', hosts: ['A.b', 'a.B:443'] }, { allowed_domains: ['a.b', 'a.b:443'] }],
    [{ mode: 'deny-all', hosts: [] }, { mode: 'deny-all' }],
    [{ mode: 'deny-all', hosts: ['a.b'] }, { mode: 'deny-all' }],
    [
      { mode: 'dev-open', hosts: ['a.b'] },
      { mode: 'dev-open', allowed_domains: ['a.b'] },
    ],
  ])('is of %j: %j', (egress, written) => {
    expect(service({ egress })).toEqual({
      ...service({}),
      ...(written === undefined ? {} : { egress: written }),
    });
  });
});

describe('the sign-in section of the service file', () => {
  it.each<[string, AgentAnswers['auth']['settings'], JsonObject]>([
    [
      'oidc',
      {
        issuer: ' https://id.example.com ',
        audience: ['a ', ' ', 'b'],
        client_id: ' ',
        claim_map: { user_id: ' oid ', email: ' ' },
        another: 'x',
      },
      {
        issuer: 'https://id.example.com',
        audience: ['a', 'b'],
        claim_map: { user_id: 'oid' },
      },
    ],
    [
      'oidc',
      { audience: [' a ', ''], claim_map: { email: '' }, jwks_url: 'https://id.example.com/k' },
      { audience: 'a', jwks_url: 'https://id.example.com/k' },
    ],
    ['http_verifier', { url: 'http://localhost:9/v' }, { url: 'http://localhost:9/v' }],
    [
      'cloud_sigv4',
      { region: 'eu-central-1', audience: 'urn:x', allowed_accounts: ['123456789012'] },
      { region: 'eu-central-1', audience: 'urn:x', allowed_accounts: ['123456789012'] },
    ],
    ['cloud_sigv4', { audience: ['one text'] }, { audience: ['one text'] }],
    ['cloud_iap', { audience: ['/projects/1'] }, { audience: '/projects/1' }],
    ['directory_ad', { tenant_id: 't', audience: [] }, { tenant_id: 't' }],
  ])('contains %s with its settings', (type, settings, written) => {
    expect(service({ auth: { mode: type, settings } })).toEqual({
      ...service({}),
      auth: { providers: [{ type, settings: written }] },
    });
  });

  it.each(['none', 'custom', 'vax'])('does not contain %s', (mode) => {
    expect(service({ auth: { mode, settings: { issuer: 'x' } } })).toEqual(service({}));
  });
});

describe('the files of channels', () => {
  const files = (channels: AgentAnswers['channels']) =>
    agentPlan({ ...firstAnswers, name: 'x', channels }).channelFiles;

  it('are empty for a channel that needs only tokens', () => {
    expect(files({ slack: { bot_token: 'xoxb-1' }, telegram: { bot_token: '1:a' } })).toEqual({});
    expect(files({ telegram: { allowed_users: ['', ' '] } })).toEqual({});
  });

  it('list the allowed users, even a single one', () => {
    expect(files({ telegram: { allowed_users: ['@ann'] } })).toEqual({
      'telegram-config.yaml': { adapter: 'telegram', settings: { allowed_users: ['@ann'] } },
    });
  });

  it('contain an empty receiver where none was given, so that it is visible', () => {
    const receiver = { url: '', secret_env: 'WEBHOOK_SECRET' };
    expect(files({ webhook: {} })).toEqual({
      'webhook-config.yaml': { adapter: 'webhook', settings: { targets: { '': receiver } } },
    });
  });

  it.each([[{ url: ['a'], target: 'ops' }], [{ url: 'a', target: {} }]])(
    'contain no receiver for %j, which is not a string',
    (webhook) => {
      expect(files({ webhook })).toEqual({ 'webhook-config.yaml': {} });
    },
  );
});
