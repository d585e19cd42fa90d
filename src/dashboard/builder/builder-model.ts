import { isAbsolute, join } from 'node:path';
import { parseEnv } from 'node:util';
import { readSmallFile } from '../../actors/process/process.ts';
import {
  isUsualModel,
  type ProviderName,
  providerAddress,
  providerKey,
} from '../../actors/providers/providers.ts';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import { type BuilderSettings, keyVariableOf, readSettings } from './settings-file.ts';

export type { BuilderSettings };

/** Sources of settings in order of precedence (docs/contract/dashboard.md). */
export type BuilderSource = 'workspace' | 'user' | 'agent_fallback' | 'unset';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The agent's own model, used for writing skills when no other model is set, and the environment that holds its key.
 */
export interface ModelOfAgent {
  settings: BuilderSettings & { organization?: string };
  env: Env;
}

/** Locations searched for settings. */
export interface SettingsPlaces {
  /** Path of the workspace's `.service` folder. */
  workspace: string;
  /** Path of the user's settings folder; `null` for none. */
  user: string | null;
  /** The environment of this process; never changed. */
  env: Env;
}

export interface AskedModel {
  provider: ProviderName;
  model: string;
  /** Base URL of the provider. */
  address: string;
  api: 'chat' | 'responses';
  apiKey: string | null;
  organization: string;
}

/** The resolved model for writing skills. */
export interface BuilderModel {
  source: BuilderSource;
  settings: BuilderSettings | null;
  hasKey: boolean;
  /** The reason why no model can be used, as a sentence; `null` if one can. */
  problem: string | null;
  /** `null` if there is a problem. */
  asked: AskedModel | null;
}

const unset: BuilderModel = {
  source: 'unset',
  settings: null,
  hasKey: false,
  problem: 'no model writes skills yet; name one in the settings of the skill builder',
  asked: null,
};

/** Returns the folder of this user's settings on this machine; `null` for a user without a home directory. */
export function userFolder(env: Env): string | null {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = env;
  if (isAbsolute(named)) return join(named, 'holdpoint');
  return isAbsolute(home) ? join(home, '.config', 'holdpoint') : null;
}

/**
 * Resolves the model that writes skills: from the workspace, then the user, then the agent itself. An invalid settings
 * file is an error and does not fall through to the next source.
 */
export async function resolveModel(
  { workspace, user, env }: SettingsPlaces,
  modelOfAgent: () => Promise<ModelOfAgent | null> = () => Promise.resolve(null),
): Promise<BuilderModel> {
  const tiers = [
    { source: 'workspace', folder: workspace, isOwn: false },
    { source: 'user', folder: user, isOwn: true },
  ] as const;
  for (const { source, folder, isOwn } of tiers) {
    const found = folder === null ? { kind: 'missing' as const } : readSettings(folder);
    if (folder === null || found.kind === 'missing') continue;
    if (found.kind === 'broken') return { ...unset, problem: found.problem };
    const { settings } = found;
    const given = isOwn || isUsualModel(settings) ? env : {};
    return modelOf(source, settings, { ...given, ...keysIn(folder) });
  }
  const found = await modelOfAgent();
  return found === null ? unset : modelOf('agent_fallback', found.settings, found.env);
}

function modelOf(
  source: BuilderSource,
  settings: BuilderSettings & { organization?: string },
  env: Env,
): BuilderModel {
  const { provider, model, base_url = '', organization = '' } = settings;
  const variable = keyVariableOf(settings);
  const key = providerKey({ provider, api_key_env: variable ?? undefined, purpose: 'it' }, env);
  const address = providerAddress(provider, base_url);
  const wrong = wrongAddress(address, variable);
  if (!key.ok || address === null || wrong !== null) {
    const why = wrong ?? `there is no key in ${variable}; give it in the settings`;
    return { source, settings, hasKey: key.ok, problem: why, asked: null };
  }
  const api = base_url === '' ? 'responses' : 'chat';
  const asked = { provider, model, address, api, apiKey: key.key, organization } as const;
  return { source, settings, hasKey: true, problem: null, asked };
}

function wrongAddress(address: string | null, variable: string | null): string | null {
  const url = address === null ? null : URL.parse(address);
  if (url === null) return 'the provider has no address; write its base_url';
  if (variable === null || url.protocol === 'https:' || isLoopbackUrl(url)) return null;
  return 'base_url would carry the key in the clear; use https';
}

/** Returns the variables of a folder's `.env`; empty when there is no such file. */
function keysIn(folder: string): Env {
  return parseEnv(readSmallFile(join(folder, '.env')) ?? '');
}
