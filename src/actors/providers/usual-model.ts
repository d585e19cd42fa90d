import { usualKeyVariable } from '../../machines/models/key-variable.ts';

/** What settings say of where a model is asked, and with the key in which variable. */
interface ModelReach {
  provider: string;
  base_url?: string | undefined;
  api_key_env?: string | null | undefined;
}

/**
 * True for a model at the usual address of its provider with the key in the usual variable. It alone is asked with a
 * variable of this process where a folder has the settings: a folder that somebody was given names neither where keys go
 * nor which of them.
 */
export function isUsualModel({ provider, base_url = '', api_key_env }: ModelReach): boolean {
  return (
    base_url === '' && (api_key_env ?? usualKeyVariable(provider)) === usualKeyVariable(provider)
  );
}
