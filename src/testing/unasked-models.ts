import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { usualKeyVariable } from '../machines/models/key-variable.ts';

/** What a setting names of a model that would be asked. */
interface Reach {
  provider?: unknown;
  api_key_env?: unknown;
  fallbacks?: unknown;
}

/**
 * Returns a text for each variable that would hold the key of a model: under test none is asked, so that no test needs a
 * key. `text` stands for the `service.yaml` of the folder where it is given.
 */
export function keysOfUnaskedModels(
  folder: string,
  text: string | undefined,
): Record<string, string> {
  const { model = {}, security = {} } = settingsIn(folder, text);
  const { fallbacks } = model;
  const reaches = [model, ...(Array.isArray(fallbacks) ? (fallbacks as Reach[]) : [])];
  const { intent_alignment: alignment = {} } = security ?? {};
  const names = [...reaches, alignment].flatMap((reach) => variableOf(reach ?? {}) ?? []);
  return Object.fromEntries(names.map((name) => [name, 'no-model-is-asked']));
}

function variableOf({ provider, api_key_env: named }: Reach): string | null {
  return typeof named === 'string' ? named : usualKeyVariable(String(provider));
}

/** What cannot be read is complained of where the whole of it is read. */
function settingsIn(
  folder: string,
  text: string | undefined,
): { model?: Reach; security?: { intent_alignment?: Reach } | null } {
  try {
    const read: unknown = parse(text ?? readFileSync(join(folder, 'service.yaml'), 'utf8'));
    return Object(read) as object;
  } catch {
    return {};
  }
}
