import { join } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { stringify } from 'yaml';
import { z } from 'zod';
import { readSmallFile } from '../../actors/process/process.ts';
import {
  isProviderName,
  type ProviderName,
  providerAddress,
} from '../../actors/providers/providers.ts';
import { refusedSecretName } from '../../actors/secrets/secrets.ts';

/** The model that writes skills, as stored in `ui.yaml` (docs/contract/dashboard.md). Contains no secrets. */
export interface BuilderSettings {
  provider: ProviderName;
  model: string;
  base_url?: string | undefined;
  /** Variable that holds the key; the provider's default when absent. */
  api_key_env?: string | undefined;
}

/** Content of a settings file; `problem` explains in a sentence why the file is unusable. */
export type SettingsReading =
  | { kind: 'found'; settings: BuilderSettings }
  | { kind: 'missing' }
  | { kind: 'broken'; problem: string };

/** Selectable providers with their default key variable; `null` for a provider that needs no key. */
export const providersOffered: readonly { name: ProviderName; key: string | null }[] = [
  { name: 'anthropic', key: 'ANTHROPIC_API_KEY' },
  { name: 'google', key: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  { name: 'ollama', key: null },
  { name: 'openai', key: 'OPENAI_API_KEY' },
  { name: 'openai-compatible', key: null },
];

const optionalText = z
  .string()
  .max(1_024)
  .optional()
  .transform((text) => text?.trim() || undefined);

/** Schema of the settings, with error messages worded for their author. */
export const settingsShape = z
  .object({
    provider: z.string({ error: 'provider must be a string' }).refine(isProviderName, {
      error: `provider must be one of ${providersOffered.map(({ name }) => name).join(', ')}`,
    }),
    model: z
      .string({ error: 'model must be the name of a model' })
      .trim()
      .min(1, 'model must be the name of a model')
      .max(256, 'model must be the name of a model'),
    base_url: optionalText.refine((text) => text === undefined || isAddress(text), {
      error:
        'base_url must be a web address without credentials, query and fragment, such as https://models.example.com/v1',
    }),
    api_key_env: optionalText.refine((text) => text === undefined || isVariable(text), {
      error: 'api_key_env must be the name of a variable in upper case, such as MODEL_KEY',
    }),
  })
  .refine(({ provider, base_url = '' }) => providerAddress(provider, base_url) !== null, {
    error: 'openai-compatible needs base_url; write the address of its server',
  });

export function settingsPath(folder: string): string {
  return join(folder, 'ui.yaml');
}

/** Reads the settings of a folder, which is untrusted. Never throws. */
export function readSettings(folder: string): SettingsReading {
  const path = settingsPath(folder);
  const text = readSmallFile(path);
  if (text === null) return { kind: 'missing' };
  const fix = 'save the settings anew, or remove it';
  try {
    const found = settingsShape.safeParse(load(text, { maxDepth: 8, maxAliases: 0 }));
    if (found.success) return { kind: 'found', settings: found.data };
    const [issue] = found.error.issues;
    return { kind: 'broken', problem: `${path}: ${issue?.message ?? 'it is not a map'}; ${fix}` };
  } catch (error) {
    const why = error instanceof YAMLException ? error.reason : 'it cannot be read';
    return { kind: 'broken', problem: `${path}: ${why}; ${fix}` };
  }
}

/** Serialises settings for `ui.yaml`. */
export function settingsText({ provider, model, base_url, api_key_env }: BuilderSettings): string {
  const written = {
    provider,
    model,
    ...(base_url === undefined ? {} : { base_url }),
    ...(api_key_env === undefined ? {} : { api_key_env }),
  };
  return `# The model that writes skills with you. The key is in .env next to this file, never here.\n${stringify(written)}`;
}

/** Returns the variable that holds the key; `null` for a provider that needs none. */
export function keyVariableOf({
  provider,
  api_key_env,
}: Pick<BuilderSettings, 'provider' | 'api_key_env'>): string | null {
  return api_key_env ?? providersOffered.find(({ name }) => name === provider)?.key ?? null;
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    return false;
  }
  return url.username === '' && url.password === '' && !/[?#]/.test(text);
}

function isVariable(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]*$/.test(name) && refusedSecretName(name) === null;
}
