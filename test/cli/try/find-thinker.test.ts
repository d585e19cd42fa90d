import { describe, expect, it } from 'vitest';
import { findThinker } from '../../../src/cli/try/find-thinker.ts';
import { thinkingLine } from '../../../src/cli/try/thinker.ts';

const key = 'sk-canary-1234567890';
const openai = 'https://api.openai.com/v1/models/gpt-5-mini';
const tags = 'http://127.0.0.1:11434/api/tags';

type Answer = () => Response | Promise<Response>;

/** Answers requests by their address; nobody listens at any other. */
function network(answers: Record<string, Answer> = {}) {
  const asked: string[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    asked.push(url);
    init?.signal?.throwIfAborted();
    const answer = answers[url];
    if (answer === undefined) throw new TypeError('fetch failed');
    return answer();
  };
  return { asked, fetch };
}

function ollamaWith(...models: object[]): Record<string, Answer> {
  return { [tags]: () => Response.json({ models }) };
}

const { signal } = new AbortController();

describe('findThinker', () => {
  it.each([
    ['OPENAI_API_KEY', 'openai', 'gpt-5-mini'],
    ['ANTHROPIC_API_KEY', 'anthropic', 'claude-sonnet-4-5'],
    ['GOOGLE_GENERATIVE_AI_API_KEY', 'google', 'gemini-2.5-flash'],
    ['GEMINI_API_KEY', 'google', 'gemini-2.5-flash'],
  ])('uses the key in %s, and prints only its name', async (keyVariable, provider, model) => {
    const { fetch } = network();
    const thinking = await findThinker({ env: { [keyVariable]: key }, fetch, signal });
    expect(thinking).toEqual({
      thinker: { provider, model, keyVariable, baseUrl: '', urlVariable: null },
    });
    expect(thinkingLine(thinking)).toBe(`Thinks with: ${provider} ${model} (${keyVariable})`);
  });

  it.each([
    ['OPENAI', 'https://gw.example.com/v1', 'https://gw.example.com/v1/models/gpt-5-mini'],
    ['ANTHROPIC', 'https://gw.example.com', 'https://gw.example.com/v1/models/claude-sonnet-4-5'],
  ])('sends a key of %s only to the host of its variable', async (name, given, url) => {
    const { asked, fetch } = network();
    const env = { [`${name}_API_KEY`]: key, [`${name}_BASE_URL`]: given };
    const line = thinkingLine(await findThinker({ env, fetch, signal }));
    expect(asked).toEqual([url]);
    expect(line).toMatch(
      new RegExp(`\\(${name}_API_KEY\\) at https://gw\\.example\\.com/v1 \\(${name}_BASE_URL\\)$`),
    );
  });

  it('sends a key to no host when the variable of its host is not an address', async () => {
    const { asked, fetch } = network(ollamaWith({ name: 'qwen3:8b' }));
    const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: 'gateway' };
    await expect(findThinker({ env, fetch, signal })).rejects.toMatchObject({
      message: expect.stringMatching(/^the environment variable OPENAI_BASE_URL is no address/),
      hint: 'unset OPENAI_BASE_URL, or play the script with: holdpoint try --scripted',
    });
    expect(asked).toEqual([]);
  });

  it('uses the ollama of OLLAMA_HOST', async () => {
    const { fetch } = network({
      'http://gpu.example.com:11434/api/tags': () =>
        Response.json({ models: [{ name: 'qwen3:8b' }] }),
    });
    const thinking = await findThinker({ env: { OLLAMA_HOST: 'gpu.example.com' }, fetch, signal });
    expect(thinkingLine(thinking)).toBe(
      'Thinks with: ollama qwen3:8b at http://gpu.example.com:11434 (OLLAMA_HOST)',
    );
  });

  it('prefers the first key of several, sends it only to its provider, and calls no ollama', async () => {
    const { asked, fetch } = network({ [openai]: () => Response.json({}) });
    const env = { GEMINI_API_KEY: key, OPENAI_API_KEY: key, ANTHROPIC_API_KEY: '  ' };
    expect(await findThinker({ env, fetch, signal })).toMatchObject({
      thinker: { keyVariable: 'OPENAI_API_KEY' },
    });
    expect(asked).toEqual([openai]);
  });

  it('uses no other model for a refused key, and states the remedy', async () => {
    const { fetch } = network({
      [openai]: () => Response.json({ error: { message: `bad key ${key}` } }, { status: 401 }),
      ...ollamaWith({ name: 'qwen3:8b' }),
    });
    const env = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key };
    await expect(findThinker({ env, fetch, signal })).rejects.toMatchObject({
      message: 'openai refused the key in OPENAI_API_KEY (401)',
      hint: 'unset OPENAI_API_KEY, or play the script with: holdpoint try --scripted',
      exitCode: 1,
    });
  });

  it('sends no request for an impossible key, and does not repeat it', async () => {
    const { asked, fetch } = network();
    const env = { ANTHROPIC_API_KEY: 'not a\nkey' };
    await expect(findThinker({ env, fetch, signal })).rejects.toMatchObject({
      message:
        'the environment variable ANTHROPIC_API_KEY holds characters that no key has; set it to the key alone',
      exitCode: 1,
    });
    expect(asked).toEqual([]);
  });

  it.each([403, 404, 429, 500])('continues with a key that is answered with %d', async (status) => {
    const { fetch } = network({ [openai]: () => new Response(null, { status }) });
    expect(await findThinker({ env: { OPENAI_API_KEY: key }, fetch, signal })).toMatchObject({
      thinker: { provider: 'openai' },
    });
  });

  it('uses the first suitable model of an ollama on this machine', async () => {
    const { fetch } = network(
      ollamaWith(
        { name: 'nomic-embed-text:latest', details: { family: 'nomic-bert' } },
        { name: 'qwen3:8b', details: { family: 'qwen3' } },
        { name: 'llama3.2:3b' },
      ),
    );
    const thinking = await findThinker({ env: {}, fetch, signal });
    const thinker = {
      ...{ provider: 'ollama', model: 'qwen3:8b', keyVariable: null },
      ...{ baseUrl: '', urlVariable: null },
    };
    expect(thinking).toEqual({ thinker });
    expect(thinkingLine(thinking)).toBe('Thinks with: ollama qwen3:8b (on this machine)');
  });

  it.each<[string, Record<string, Answer>]>([
    ['nobody listens', {}],
    ['it has no model', ollamaWith()],
    ['it has only embedders', ollamaWith({ name: 'mxbai-embed-large' })],
    ['a name would control the terminal', ollamaWith({ name: 'a\u001b[2Jb' })],
    ['a name would be filled in from the environment', ollamaWith({ name: '${HOME}' })],
    ['another server answers', { [tags]: () => new Response('<html>') }],
    ['it fails', { [tags]: () => Response.json({ models: [{ name: 'a' }] }, { status: 500 }) }],
    ['its list is endless', { [tags]: () => new Response(endless()) }],
  ])('uses a script when %s', async (_, answers) => {
    const { fetch } = network(answers);
    const thinking = await findThinker({ env: {}, fetch, signal });
    expect(thinkingLine(thinking)).toBe(
      'Thinks with: a script, no language model (no key in the environment, no ollama on this machine)',
    );
  });

  it('times out for a silent ollama', async () => {
    const limits: AbortSignal[] = [];
    const fetch = (_: unknown, { signal: limit }: RequestInit = {}): Promise<Response> =>
      new Promise((_resolve, reject) => {
        limits.push(limit!);
        limit?.addEventListener('abort', () => reject(limit.reason));
      });
    expect(await findThinker({ env: {}, fetch, signal })).toMatchObject({ thinker: null });
    expect(limits.map(({ reason }) => (reason as Error).name)).toEqual(['TimeoutError']);
  });

  it('stops when the player does', async () => {
    const left = AbortSignal.abort(new Error('left'));
    const { fetch } = network();
    await expect(findThinker({ env: {}, fetch, signal: left })).rejects.toThrow('left');
    const env = { OPENAI_API_KEY: key };
    await expect(findThinker({ env, fetch, signal: left })).rejects.toThrow('left');
  });
});

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(64 * 1024).fill(0x20);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}
