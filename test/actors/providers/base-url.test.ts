import { describe, expect, it } from 'vitest';
import { baseUrlFrom } from '../../../src/actors/providers/base-url.ts';

describe('baseUrlFrom', () => {
  it.each([
    ['openai', 'OPENAI_BASE_URL', 'http://127.0.0.1:23500/v1/', 'http://127.0.0.1:23500/v1'],
    ['openai', 'OPENAI_API_BASE', ' https://gw.example.com ', 'https://gw.example.com'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'https://gw.example.com', 'https://gw.example.com/v1'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'https://gw.example.com/v1', 'https://gw.example.com/v1'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'https://gw.example.com/a', 'https://gw.example.com/a/v1'],
    ['google', 'GOOGLE_GEMINI_BASE_URL', 'https://g.example.com', 'https://g.example.com/v1beta'],
    ['google', 'GEMINI_BASE_URL', 'https://g.example.com/v1beta/', 'https://g.example.com/v1beta'],
    ['ollama', 'OLLAMA_HOST', '0.0.0.0', 'http://127.0.0.1:11434'],
    ['ollama', 'OLLAMA_HOST', ':9000', 'http://127.0.0.1:9000'],
    ['ollama', 'OLLAMA_HOST', 'gpu.example.com', 'http://gpu.example.com:11434'],
    ['ollama', 'OLLAMA_HOST', 'https://gpu.example.com', 'https://gpu.example.com'],
  ])('reads the address of %s from %s=%s', (provider, variable, value, url) => {
    expect(baseUrlFrom(provider, { [variable]: value })).toEqual({ ok: true, url, variable });
  });

  it.each([
    ['openai', {}],
    ['openai', { OPENAI_BASE_URL: ' ', ANTHROPIC_BASE_URL: 'https://gw.example.com' }],
    ['openai-compatible', { OPENAI_BASE_URL: 'https://gw.example.com' }],
    ['scripted', { OPENAI_BASE_URL: 'https://gw.example.com' }],
    ['constructor', {}],
  ])('is undefined for %s where its variable is not set', (provider, env) => {
    expect(baseUrlFrom(provider, env)).toEqual({ ok: true, url: '', variable: null });
  });

  it.each(['gw.example.com/v1', 'ftp://gw', 'https://u:CANARY@gw', 'https://gw/?k=CANARY', 'a b'])(
    'refuses %s and does not repeat it',
    (value) => {
      const message =
        'the environment variable OPENAI_BASE_URL is no address without credentials, ? and #; write one such as https://models.example.com/v1';
      expect(baseUrlFrom('openai', { OPENAI_BASE_URL: value })).toEqual({
        ...{ ok: false, variable: 'OPENAI_BASE_URL', message },
      });
    },
  );
});
