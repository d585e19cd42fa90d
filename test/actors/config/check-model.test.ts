import { describe, expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const keys = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', SPARE_KEY: ' ' };

/** What is said of a model, without the place in the file. */
const told = (model: string) =>
  linesOf(read(`agent_id: x\nmodel: ${model}`, keys)).map((line) => line.replace(/ \d+:\d+/, ''));

describe('the model of an agent', () => {
  it.each([
    '{provider: openai, name: gpt-5, organization_id: org-1, api: chat}',
    '{provider: anthropic, name: claude, fallbacks: [{provider: openai, name: gpt-5}]}',
    '{provider: ollama, name: llama3.2}',
    '{provider: openai-compatible, name: m, base_url: "http://127.0.0.1:8000/v1"}',
  ])('may be %s', (model) => expect(told(model)).toEqual([]));

  it.each([
    [
      '{provider: google, name: gemini}',
      'error model.provider | the environment variable GOOGLE_GENERATIVE_AI_API_KEY is not set; it must hold the key of the model, which holdpoint secret set GOOGLE_GENERATIVE_AI_API_KEY keeps encrypted',
    ],
    [
      '{provider: openai, name: m, api_key_env: SPARE_KEY}',
      'error model.api_key_env | the environment variable SPARE_KEY is not set; it must hold the key of the model, which holdpoint secret set SPARE_KEY keeps encrypted',
    ],
    [
      '{provider: openai}',
      'error model.provider | openai needs the name of a model; write it as model.name',
    ],
    [
      '{provider: openai-compatible, name: m}',
      'error model.provider | openai-compatible needs base_url; write the address of its server, such as http://127.0.0.1:8000/v1',
    ],
    [
      '{provider: ollama, name: m, base_url: nonsense}',
      'error model.base_url | base_url is not a URL; write one such as https://models.example.com/v1',
    ],
    [
      '{provider: openai, name: m, base_url: "https://u:p@a.example/v1"}',
      'error model.base_url | base_url must hold neither credentials nor a query nor a fragment; put the key into a variable and name it in api_key_env',
    ],
    [
      '{provider: openai, name: m, base_url: "http://a.example/v1"}',
      'warning model.base_url | base_url sends messages and the key in clear text to another machine; use https',
    ],
    [
      '{provider: openai, name: m, fallbacks: [{provider: google, name: g}]}',
      'error model.fallbacks.0.provider | the environment variable GOOGLE_GENERATIVE_AI_API_KEY is not set; it must hold the key of the model, which holdpoint secret set GOOGLE_GENERATIVE_AI_API_KEY keeps encrypted',
    ],
    [
      '{provider: openai, name: m, fallbacks: [{provider: scripted, name: g}]}',
      'error model.fallbacks.0.provider | scripted cannot be a fallback; name a provider',
    ],
    [
      '{provider: anthropic, name: m, organization_id: o}',
      'warning model.organization_id | organization_id is used by openai alone; remove it',
    ],
    [
      '{provider: anthropic, name: m, script: [{say: hi}]}',
      'warning model.script | the script is played by the provider scripted alone, not by anthropic; remove it',
    ],
    [
      '{fallbacks: [{provider: ollama, name: m}]}',
      'warning model.fallbacks | a script never fails, so its fallbacks are never used; remove them or set a provider',
    ],
  ])('has a finding for %s', (model, line) => expect(told(model)).toEqual([line]));
});
