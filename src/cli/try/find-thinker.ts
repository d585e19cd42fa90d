import * as z from 'zod';
import {
  baseUrlFrom,
  boundedText,
  type ProviderName,
  probeModel,
  providerAddress,
  providerKey,
} from '../../actors/providers/providers.ts';
import { type Thinker, type Thinking, thinkerFailure } from './thinker.ts';

type Fetch = typeof globalThis.fetch;

/** The inputs of a search for a model. */
export interface ThinkerSearch {
  env: NodeJS.ProcessEnv;
  fetch: Fetch;
  /** Aborts when the user leaves. */
  signal: AbortSignal;
}

interface Credential {
  provider: ProviderName;
  model: string;
  keyVariable: string;
}

/**
 * The environment variables that may hold an API key, in search order, each with a small model that calls tools well.
 */
const credentials: readonly Credential[] = [
  { provider: 'openai', model: 'gpt-5-mini', keyVariable: 'OPENAI_API_KEY' },
  { provider: 'anthropic', model: 'claude-sonnet-4-5', keyVariable: 'ANTHROPIC_API_KEY' },
  { provider: 'google', model: 'gemini-2.5-flash', keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  { provider: 'google', model: 'gemini-2.5-flash', keyVariable: 'GEMINI_API_KEY' },
];

/** Timeout in milliseconds for ollama's list of models. */
const ollamaPatience = 300;

/** Timeout in milliseconds for a provider's check of an API key. */
const keyPatience = 5_000;

/** Maximum length of a list of models in characters. */
const longestList = 1024 * 1024;

/**
 * Finds the first usable model: an API key in the environment, then an ollama with a model on this machine. Throws
 * CliError for an unusable or rejected key, since switching to another model would hide the problem.
 */
export async function findThinker({ env, fetch, signal }: ThinkerSearch): Promise<Thinking> {
  const found = credentials.find(({ keyVariable }) => (env[keyVariable] ?? '').trim() !== '');
  if (found !== undefined) {
    const reach = reachOf(found.provider, env);
    await checkKey({ ...found, ...reach }, { env, fetch, signal });
    return { thinker: { ...found, ...reach } };
  }
  const reach = reachOf('ollama', env);
  const model = await modelOfOllama(reach.baseUrl, fetch, signal);
  signal.throwIfAborted();
  if (model === null) {
    const where = reach.urlVariable === null ? 'on this machine' : `at ${reach.urlVariable}`;
    return { thinker: null, why: `no key in the environment, no ollama ${where}` };
  }
  return { thinker: { provider: 'ollama', model, keyVariable: null, ...reach } };
}

/** Throws CliError for an invalid base URL, so a key is never sent to a host that was not named for it. */
function reachOf(
  provider: ProviderName,
  env: NodeJS.ProcessEnv,
): Pick<Thinker, 'baseUrl' | 'urlVariable'> {
  const found = baseUrlFrom(provider, env);
  if (!found.ok) throw thinkerFailure(found.message, { keyVariable: found.variable });
  return { baseUrl: found.url, urlVariable: found.variable };
}

async function checkKey(
  { provider, model, keyVariable, baseUrl }: Credential & Pick<Thinker, 'baseUrl'>,
  { env, fetch, signal }: ThinkerSearch,
): Promise<void> {
  const key = providerKey({ provider, api_key_env: keyVariable, purpose: 'the model' }, env);
  if (!key.ok) throw thinkerFailure(key.message, { keyVariable });
  const address = providerAddress(provider, baseUrl) ?? '';
  const limit = AbortSignal.any([signal, AbortSignal.timeout(keyPatience)]);
  const probe = await probeModel({ provider, model, address, apiKey: key.key }, fetch, limit);
  signal.throwIfAborted();
  // A valid key without permission to list models is answered with 403.
  if (probe.kind !== 'refused' || probe.status !== 401) return;
  throw thinkerFailure(`${provider} refused the key in ${keyVariable} (401)`, { keyVariable });
}

const tagList = z.object({
  models: z.array(
    z.object({
      name: z.string().regex(/^[\w.:/@-]{1,200}$/),
      details: z.object({ family: z.string().nullish() }).nullish(),
    }),
  ),
});

/** Returns the first model in ollama's list that can answer; `null` if there is none or ollama times out. */
async function modelOfOllama(
  baseUrl: string,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<string | null> {
  const address = providerAddress('ollama', baseUrl);
  if (address === null) return null;
  try {
    const response = await fetch(new URL('/api/tags', address), {
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ollamaPatience)]),
    });
    if (!response.ok) return null;
    const { models } = tagList.parse(JSON.parse(await boundedText(response, longestList)));
    return models.find((model) => !isEmbedder(model))?.name ?? null;
  } catch {
    // Another program listens at ollama's port.
    return null;
  }
}

function isEmbedder({ name, details }: z.infer<typeof tagList>['models'][number]): boolean {
  return /embed/i.test(name) || /bert/i.test(details?.family ?? '');
}
