import { describe, expect, it } from 'vitest';
import { checkAlignment } from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';

const secret = 'sk-live-0123456789';

function find(settings: object, env: Record<string, string> = { OPENAI_API_KEY: secret }) {
  return checkAlignment(alignmentSchema.parse({ enabled: true, ...settings }), env);
}

describe('the settings of intent alignment', () => {
  it('have the defaults of the contract', () => {
    expect(alignmentSchema.parse({})).toStrictEqual({
      enabled: false,
      provider: 'openai',
      model: 'text-embedding-3-small',
      timeout: 5_000,
      threshold: 0.5,
      hard_threshold: 0.3,
    });
  });

  it('keep an explicit zero and every other value', () => {
    const drift = { window: 7, drift_threshold: 0, monotone_n: 7 };
    const written = {
      enabled: true,
      provider: 'openai-compatible',
      model: 'bge-m3',
      base_url: 'https://embeddings.example.com/v1',
      api_key_env: 'EMBEDDER_KEY',
      threshold: 0,
      hard_threshold: 0,
      drift,
    };
    const settings = alignmentSchema.parse({ ...written, timeout: '250ms' });
    expect(settings).toStrictEqual({ ...written, timeout: 250 });
  });

  it('fill in an enabled drift check', () => {
    expect(alignmentSchema.parse({ drift: {} }).drift).toStrictEqual({
      window: 5,
      drift_threshold: 0.35,
      monotone_n: 3,
    });
  });

  it('accept -1 as a hard threshold', () => {
    expect(alignmentSchema.parse({ hard_threshold: -1 }).hard_threshold).toBe(-1);
  });

  it.each([
    [{ provider: 'cohere' }, ['provider']],
    [{ model: ' ' }, ['model']],
    [{ api_key_env: '${OPENAI_API_KEY}' }, ['api_key_env']],
    [{ timeout: '0s' }, ['timeout']],
    [{ timeout: 5 }, ['timeout']],
    [{ threshold: 1.01 }, ['threshold']],
    [{ threshold: '0.5' }, ['threshold']],
    [{ hard_threshold: -1.01 }, ['hard_threshold']],
    [{ hard_threshold: Number.NaN }, ['hard_threshold']],
    [{ drift: { drift_threshold: 2 } }, ['drift', 'drift_threshold']],
    [{ drift: { window: 1 } }, ['drift', 'window']],
    [{ drift: { monotone_n: 1 } }, ['drift', 'monotone_n']],
    [{ drift: { window: 4, monotone_n: 5 } }, ['drift', 'monotone_n']],
    [{ drift: { window: 2 } }, ['drift', 'monotone_n']],
  ])('refuse %j', (written, path) => {
    const issues = alignmentSchema.safeParse(written).error?.issues ?? [];
    expect(issues.map((issue) => issue.path)).toEqual([path]);
  });
});

describe('the check of intent alignment', () => {
  it.each([
    [{}],
    [{ base_url: 'https://proxy.example.com/v1' }],
    [{ provider: 'openai-compatible', base_url: 'http://127.0.0.1:8080/v1' }],
    [{ provider: 'openai-compatible', base_url: 'http://[::1]:8080/v1' }],
    [{ provider: 'ollama', model: 'nomic-embed-text' }],
    [{ provider: 'ollama', model: 'nomic-embed-text', base_url: '' }],
    [{ provider: 'local', api_key_env: 'NOT_SET' }],
    [{ provider: 'local', base_url: 'embeddings' }],
    [{ provider: 'openai-compatible', base_url: 'https://e.example.com', model: 'bge-m3' }],
    [{ threshold: 0, hard_threshold: 0 }],
    [{ threshold: -1, hard_threshold: -1 }],
  ])('accepts %j', (settings) => {
    expect(find(settings)).toEqual([]);
  });

  it('is skipped while it is off', () => {
    const settings = { enabled: false, provider: 'openai-compatible', threshold: -1 };
    expect(find(settings, {})).toEqual([]);
  });

  it.each([
    [{}, 'OPENAI_API_KEY'],
    [{ provider: 'google', model: 'gemini-embedding-001' }, 'GOOGLE_GENERATIVE_AI_API_KEY'],
    [{ api_key_env: 'OTHER_KEY' }, 'OTHER_KEY'],
    [{ provider: 'ollama', model: 'nomic-embed-text', api_key_env: 'OTHER_KEY' }, 'OTHER_KEY'],
  ])('names the missing variable for %j', (settings, variable) => {
    for (const env of [{}, { [variable]: ' ' }] as Record<string, string>[]) {
      const message = `the environment variable ${variable} is not set; it must hold the key of the embedder, which holdpoint secret set ${variable} keeps encrypted`;
      expect(find(settings, env)).toEqual([{ path: ['api_key_env'], message, severity: 'error' }]);
    }
  });

  it('refuses a key that no header can carry, without quoting it', () => {
    const message =
      'the environment variable OPENAI_API_KEY holds characters that no key has; set it to the key alone';
    for (const value of [`${secret}\nX-Other: 1`, `${secret} `.repeat(2), `${secret}ä`]) {
      expect(find({}, { OPENAI_API_KEY: value })).toEqual([
        { path: ['api_key_env'], message, severity: 'error' },
      ]);
    }
  });

  it('requires the address of openai-compatible', () => {
    expect(find({ provider: 'openai-compatible' })).toEqual([
      {
        path: ['base_url'],
        message:
          'openai-compatible needs base_url; write the address of its server, such as https://embeddings.example.com/v1',
        severity: 'error',
      },
    ]);
  });

  it.each(['embeddings', 'ftp://example.com', 'file:///etc/passwd', 'https://', 'https:// x/'])(
    'refuses the address %s',
    (base_url) => {
      expect(find({ base_url })).toEqual([
        {
          path: ['base_url'],
          message: 'base_url is not a URL; write one such as https://embeddings.example.com/v1',
          severity: 'error',
        },
      ]);
    },
  );

  it.each([
    `https://user:${secret}@example.com/v1`,
    'https://user@example.com/v1',
    `https://:${secret}@example.com/v1`,
    `https://example.com/v1?key=${secret}`,
    'https://example.com/v1#x',
  ])('refuses credentials and similar parts in an address (%#)', (base_url) => {
    expect(find({ base_url })).toEqual([
      {
        path: ['base_url'],
        message:
          'base_url must hold neither credentials nor a query nor a fragment; put the key into a variable and name it in api_key_env',
        severity: 'error',
      },
    ]);
  });

  it.each([
    [
      { base_url: 'http://127.example.com/v1' },
      'base_url',
      'base_url sends messages of callers and the key in clear text to another machine; use https',
    ],
    [
      { provider: 'ollama' },
      'model',
      'the model is one of openai, so ollama will not know it and every call is denied; name another, such as nomic-embed-text',
    ],
    [
      { provider: 'google', model: 'text-embedding-3-large', api_key_env: 'OPENAI_API_KEY' },
      'model',
      'the model is one of openai, so google will not know it and every call is denied; name another, such as gemini-embedding-001',
    ],
    [
      { threshold: 0.2 },
      'threshold',
      'threshold is below hard_threshold, so no score is ever warned of; raise it or lower hard_threshold',
    ],
  ])('warns of %j', (settings, key, message) => {
    expect(find(settings)).toEqual([{ path: [key], message, severity: 'warning' }]);
  });
});
