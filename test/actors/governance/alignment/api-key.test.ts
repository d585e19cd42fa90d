import { describe, expect, it } from 'vitest';
import { resolveApiKey } from '../../../../src/actors/governance/alignment/api-key.ts';
import { prepareEmbeddingModel } from '../../../../src/actors/governance/alignment/create-embedder.ts';
import { EmbedderError } from '../../../../src/actors/governance/alignment/embedder.ts';

const env = { OPENAI_API_KEY: 'sk-live', MY_KEY: ' mine ', BAD: 'a\nb' };
const settings = { enabled: true, model: 'm', timeout: 1, threshold: 0, hard_threshold: 0 };

/** What went wrong, as the embedder tells it. */
function failureOf(attempt: () => unknown): object {
  try {
    return { made: attempt() };
  } catch (error) {
    if (!(error instanceof EmbedderError)) throw error;
    return { code: error.code, message: error.message };
  }
}

describe('the key of an embedder', () => {
  it.each([
    ['of the default variable', { provider: 'openai' }, 'sk-live'],
    ['of the named variable', { provider: 'openai', api_key_env: 'MY_KEY' }, 'mine'],
    ['that is empty without a default variable', { provider: 'ollama' }, null],
    ['that is empty for the local embedder', { provider: 'local', api_key_env: 'MY_KEY' }, null],
  ] as const)('is that %s', (_, given, key) => {
    expect(resolveApiKey({ ...settings, ...given }, env)).toBe(key);
  });

  it.each([
    [
      'is missing',
      { provider: 'google' },
      'the environment variable GOOGLE_GENERATIVE_AI_API_KEY is not set; it must hold the key of the embedder, which holdpoint secret set GOOGLE_GENERATIVE_AI_API_KEY keeps encrypted',
    ],
    [
      'does not fit into a header',
      { provider: 'openai', api_key_env: 'BAD' },
      'the environment variable BAD holds characters that no key has; set it to the key alone',
    ],
  ] as const)('is reported by its variable when it %s', (_, given, message) => {
    expect(failureOf(() => resolveApiKey({ ...settings, ...given }, env))).toEqual({
      code: 'missing_key',
      message,
    });
  });
});

describe('the model of an embedder', () => {
  it('is refused before a request when it has no address', () => {
    const given = { ...settings, provider: 'openai-compatible' as const };
    const fetch = () => Promise.reject(new Error('nobody is asked'));
    expect(failureOf(() => prepareEmbeddingModel(given, { env, fetch }))).toEqual({
      code: 'unreachable',
      message: 'openai-compatible has no base_url; write its address',
    });
  });
});
