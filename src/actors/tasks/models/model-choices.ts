import { ModelError } from '../../ports.ts';
import { type ProviderName, providerAddress, providerKey } from '../../providers/providers.ts';
import type { ModelSubject } from './model-subject.ts';

/** One model as it is configured, with what its requests need. */
export interface ModelChoice {
  subject: ModelSubject;
  /** Which wire of openai is spoken. */
  api: 'chat' | 'responses';
  /** `null` for a server that asks for none. */
  apiKey: string | null;
  /** Empty for that of the key. */
  organization: string;
}

/** How one model is configured. */
export interface LinkSettings {
  provider: ProviderName | 'scripted';
  name: string;
  /** Empty for the usual address. */
  base_url: string;
  api_key_env?: string | undefined;
  organization_id: string;
  api?: 'chat' | 'responses' | undefined;
}

/** How a chain of models is configured, the first one and its fallbacks. */
export interface ChainSettings extends LinkSettings {
  fallbacks: readonly LinkSettings[];
}

/**
 * Returns the models of an agent in the order in which they are asked; none for `scripted`. Throws ModelError when a key
 * or an address is missing.
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
  // Servers that stand in for openai speak the older wire; openai's own models do more over the newer one.
  const api = configured.api ?? (base_url === '' ? 'responses' : 'chat');
  return [{ subject: { provider, model, address, keyVariable }, api, apiKey, organization }];
}
