import { usualKeyVariable } from '../../machines/models/key-variable.ts';

/** A key and its variable; both `null` for a provider that needs none. */
export type ProviderKey =
  | { ok: true; key: string | null; variable: string | null }
  | { ok: false; message: string };

/** The provider whose key is needed, and its purpose, such as `the model`. */
export interface KeyQuestion {
  provider: string;
  api_key_env?: string | undefined;
  purpose: string;
}

/** Reads the key of a provider from the environment. Errors name the variable, never its value. */
export function providerKey(
  { provider, api_key_env, purpose }: KeyQuestion,
  env: Readonly<Record<string, string | undefined>>,
): ProviderKey {
  const variable = api_key_env ?? usualKeyVariable(provider);
  if (variable === null) return { ok: true, key: null, variable };
  const key = (Object.hasOwn(env, variable) ? env[variable] : undefined)?.trim() ?? '';
  if (key === '') {
    const message = `the environment variable ${variable} is not set; it must hold the key of ${purpose}, which holdpoint secret set ${variable} keeps encrypted`;
    return { ok: false, message };
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const message = `the environment variable ${variable} holds characters that no key has; set it to the key alone`;
    return { ok: false, message };
  }
  return { ok: true, key, variable };
}
