import { usualKeyVariable } from '../../machines/models/key-variable.ts';

/** The settings that locate a model: provider, base URL and key variable. */
interface ModelReach {
  provider: string;
  base_url?: string | undefined;
  api_key_env?: string | null | undefined;
}

/**
 * True for a model at its provider's default URL with the key in the default variable. Only such a model may use a
 * variable of this process if the settings come from a folder: a folder from another person must choose neither the
 * destination of keys nor the key.
 */
export function isUsualModel({ provider, base_url = '', api_key_env }: ModelReach): boolean {
  return (
    base_url === '' && (api_key_env ?? usualKeyVariable(provider)) === usualKeyVariable(provider)
  );
}
