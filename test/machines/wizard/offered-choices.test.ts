import { expect, it } from 'vitest';
import {
  authOffer,
  authOffers,
  channelOffer,
  channels,
  egressModes,
  providerOffer,
  providers,
  searchServices,
  tools,
} from '../../../src/machines/wizard/offers.ts';

it('the offered providers are these, a script first, with their known models', () => {
  const gpt = ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-4.1'];
  const claude = ['claude-sonnet-4-5', 'claude-opus-4-1', 'claude-haiku-4-5'];
  const own = 'OpenAI-compatible server';
  expect(providers.map(({ name, label, models }) => [name, label, models])).toEqual([
    ['scripted', 'A script (needs no key)', []],
    ['openai', 'OpenAI', gpt],
    ['anthropic', 'Anthropic', claude],
    ['google', 'Google Gemini', ['gemini-2.5-pro', 'gemini-2.5-flash']],
    ['ollama', 'Ollama on this machine', ['qwen3', 'llama3.2', 'mistral']],
    ['openai-compatible', own, []],
    ['gate', 'No model: a gate for calls of other programs', []],
  ]);
});

it('each provider asks for its required fields only', () => {
  const needs = providers.map(({ name, address, variable, organization }) => [
    name,
    { address, variable, organization },
  ]);
  const none = { address: 'none', variable: null, organization: false };
  const optional = { ...none, address: 'optional' };
  expect(Object.fromEntries(needs)).toEqual({
    scripted: none,
    openai: { ...optional, variable: 'OPENAI_API_KEY', organization: true },
    anthropic: { ...optional, variable: 'ANTHROPIC_API_KEY' },
    google: { ...optional, variable: 'GOOGLE_GENERATIVE_AI_API_KEY' },
    ollama: optional,
    'openai-compatible': { ...none, address: 'required', variable: 'MODEL_API_KEY' },
    gate: none,
  });
});

it('each tool describes what an agent can do with it', () => {
  expect(tools.map(({ name, about }) => `${name} ${about}`)).toEqual([
    'datetime_now tells the time',
    'uuid_generate makes identifiers',
    'math_calculate calculates',
    'json_query reads JSON',
    'csv_parse reads tables',
    'http_request sends requests to listed hosts',
    'web_fetch reads pages of listed hosts',
    'web_search searches the web with a service and its key',
    "file_read reads the agent's files",
    "file_write writes the agent's files",
    "file_edit changes the agent's files",
    'glob_search finds files by name',
    'grep_search finds files by their content',
    'cli_execute runs listed programs in a sandbox',
  ]);
});

it('two search services are offered, each with its own key', () => {
  expect(searchServices).toEqual([
    { name: 'tavily', label: 'Tavily', variable: 'TAVILY_API_KEY' },
    { name: 'perplexity', label: 'Perplexity', variable: 'PERPLEXITY_API_KEY' },
  ]);
});

it('three channels are offered, of which Telegram cannot ask for a decision', () => {
  expect(channels.map(({ name, label, decides }) => [name, label, decides])).toEqual([
    ['slack', 'Slack', true],
    ['telegram', 'Telegram', false],
    ['webhook', 'Webhook', true],
  ]);
});

it('these sign-in methods are offered, none first', () => {
  expect(authOffers.map(({ mode, label }) => [mode, label])).toEqual([
    ['none', 'None: anyone on this machine'],
    ['oidc', 'OIDC (JWT)'],
    ['http_verifier', 'HTTP verifier'],
    ['cloud_sigv4', 'AWS IAM (signed request)'],
    ['cloud_iap', 'GCP identity-aware proxy'],
    ['directory_ad', 'Microsoft Entra, one tenant'],
    ['custom', 'Custom: a comment to fill in by hand'],
  ]);
});

it('the offered egress modes are listed hosts, nothing and everything', () => {
  expect(egressModes).toEqual(['allowlist', 'deny-all', 'dev-open']);
});

it('each offer is found by its own name only', () => {
  expect(providers.map(({ name }) => providerOffer(name))).toEqual(providers);
  expect(channels.map(({ name }) => channelOffer(name))).toEqual(channels);
  expect(authOffers.map(({ mode }) => authOffer(mode))).toEqual(authOffers);
  expect([providerOffer('vax'), channelOffer('sms'), authOffer('magic')]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
