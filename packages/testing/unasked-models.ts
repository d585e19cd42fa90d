import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { usualKeyVariable } from '../../src/machines/models/key-variable.ts';

/** A model setting that would lead to a request. */
interface Reach {
  provider?: unknown;
  api_key_env?: unknown;
  fallbacks?: unknown;
}

/**
 * Returns a placeholder for each variable of a model's key. No model is called under test, so tests need no key. If
 * `text` is given, it replaces the folder's `service.yaml`.
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

/** Parse errors are reported when the whole file is read. */
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
