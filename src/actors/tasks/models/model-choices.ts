import { ModelError } from '../../ports/model.ts';
import { type ProviderName, providerAddress, providerKey } from '../../providers/providers.ts';
import type { ModelSubject } from './model-subject.ts';

/** A configured model with the values for its requests. */
export interface ModelChoice {
  subject: ModelSubject;
  /** The API of openai to use. */
  api: 'chat' | 'responses';
  /** `null` for a server without a key. */
  apiKey: string | null;
  /** Empty for the key's default. */
  organization: string;
}

/** Settings of one model. */
export interface LinkSettings {
  provider: ProviderName | 'scripted';
  name: string;
  /** Empty for the default URL. */
  base_url: string;
  api_key_env?: string | undefined;
  organization_id: string;
  api?: 'chat' | 'responses' | undefined;
}

/** Settings of a chain of models: the first one and its fallbacks. */
export interface ChainSettings extends LinkSettings {
  fallbacks: readonly LinkSettings[];
}

/**
 * Returns the models of an agent in the order of use; none for `scripted`. Throws ModelError if a key or URL is
 * missing.
 */
export function modelChoices(
  model: ChainSettings,
  env: Readonly<Record<string, string | undefined>>,
): ModelChoice[] {
  return [model, ...model.fallbacks].flatMap((one) => choiceOf(one, env));
}

function choiceOf(
  configured: LinkSettings,
  env: Readonly<Record<string, string | undefined>>,
): ModelChoice[] {
  const {
    provider,
    name: model,
    base_url,
    api_key_env,
    organization_id: organization,
  } = configured;
  if (provider === 'scripted') return [];
  const address = providerAddress(provider, base_url);
  if (address === null) throw new ModelError(`${provider} has no base_url; write its address`);
  const found = providerKey({ provider, api_key_env, purpose: 'the model' }, env);
  if (!found.ok) throw new ModelError(found.message);
  const { key: apiKey, variable: keyVariable } = found;
  // Servers compatible with openai implement the older API; openai's own models support more through the newer one.
  const api = configured.api ?? (base_url === '' ? 'responses' : 'chat');
  return [{ subject: { provider, model, address, keyVariable }, api, apiKey, organization }];
}
