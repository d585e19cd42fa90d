import { isAbsolute, join } from 'node:path';
import { parseEnv } from 'node:util';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import { readSmallFile } from '../process/process.ts';
import {
  isUsualModel,
  type ProviderName,
  providerAddress,
  providerKey,
} from '../providers/providers.ts';
import { type BuilderSettings, keyVariableOf, readSettings } from './settings-file.ts';

export type { BuilderSettings };

/** Where settings come from (docs/contract/dashboard.md), in the order in which they are looked for. */
export type BuilderSource = 'workspace' | 'user' | 'agent_fallback' | 'unset';

type Env = Readonly<Record<string, string | undefined>>;

/** The model of an agent, which writes skills where nobody has named another one, and what its key is looked for in. */
export interface ModelOfAgent {
  settings: BuilderSettings & { organization?: string };
  env: Env;
}

/** Where settings are looked for. */
export interface SettingsPlaces {
  /** `.service` of the workspace. */
  workspace: string;
  /** That of the user; `null` for none. */
  user: string | null;
  /** The environment of this process, which nothing changes. */
  env: Env;
}

/** A model with its key. */
export interface AskedModel {
  provider: ProviderName;
  model: string;
  /** The URL that the provider answers under. */
  address: string;
  api: 'chat' | 'responses';
  apiKey: string | null;
  organization: string;
}

/** The model that writes skills, as far as it is known. */
export interface BuilderModel {
  source: BuilderSource;
  settings: BuilderSettings | null;
  hasKey: boolean;
  /** Why nobody can be asked, in a sentence; `null` when somebody can. */
  problem: string | null;
  /** `null` while there is a problem. */
  asked: AskedModel | null;
}

const unset: BuilderModel = {
  source: 'unset',
  settings: null,
  hasKey: false,
  problem: 'no model writes skills yet; name one in the settings of the skill builder',
  asked: null,
};

/** Names the folder of what this user has set on this machine; `null` for one without a home. */
export function userFolder(env: Env): string | null {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = env;
  if (isAbsolute(named)) return join(named, 'holdpoint');
  return isAbsolute(home) ? join(home, '.config', 'holdpoint') : null;
}

/**
 * Finds the model that writes skills: that of the workspace, that of the user, then that of the agent itself. A file of
 * settings that is broken is not passed over.
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

/** The variables of the `.env` of a folder; none when there is no such file. */
function keysIn(folder: string): Env {
  return parseEnv(readSmallFile(join(folder, '.env')) ?? '');
}
