import { isLoopbackUrl } from '../../../machines/loopback.ts';
import type { AlignmentSettings } from '../settings/schema-alignment.ts';
import { resolveApiKey } from './api-key.ts';

/** A problem in `security.intent_alignment`; the path is relative to it. */
export interface AlignmentFinding {
  path: (string | number)[];
  message: string;
  severity: 'error' | 'warning';
}

/**
 * Checks rules of `security.intent_alignment` that its schema cannot express; skipped while it is off
 * (docs/contract/configuration.md).
 */
export function checkAlignment(
  settings: AlignmentSettings,
  env: Readonly<Record<string, string | undefined>>,
): AlignmentFinding[] {
  if (!settings.enabled) return [];
  return [
    ...checkAddress(settings),
    ...checkKey(settings, env),
    ...checkModel(settings),
    ...checkThresholds(settings),
  ];
}

function checkAddress({ provider, base_url = '' }: AlignmentSettings): AlignmentFinding[] {
  const path = ['base_url'];
  if (provider === 'local') return [];
  if (base_url === '') {
    if (provider !== 'openai-compatible') return [];
    const message =
      'openai-compatible needs base_url; write the address of its server, such as https://embeddings.example.com/v1';
    return [{ path, message, severity: 'error' }];
  }
  const url = URL.parse(base_url);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const message = 'base_url is not a URL; write one such as https://embeddings.example.com/v1';
    return [{ path, message, severity: 'error' }];
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const message =
      'base_url must hold neither credentials nor a query nor a fragment; put the key into a variable and name it in api_key_env';
    return [{ path, message, severity: 'error' }];
  }
  if (url.protocol === 'https:' || isLoopbackUrl(url)) return [];
  const message =
    'base_url sends messages of callers and the key in clear text to another machine; use https';
  return [{ path, message, severity: 'warning' }];
}

function checkKey(
  settings: AlignmentSettings,
  env: Readonly<Record<string, string | undefined>>,
): AlignmentFinding[] {
  try {
    resolveApiKey(settings, env);
    return [];
  } catch (error) {
    return [{ path: ['api_key_env'], message: (error as Error).message, severity: 'error' }];
  }
}

function checkModel({ provider, model }: AlignmentSettings): AlignmentFinding[] {
  const example = { google: 'gemini-embedding-001', ollama: 'nomic-embed-text' };
  if (provider !== 'google' && provider !== 'ollama') return [];
  if (!model.startsWith('text-embedding-3-')) return [];
  const message = `the model is one of openai, so ${provider} will not know it and every call is denied; name another, such as ${example[provider]}`;
  return [{ path: ['model'], message, severity: 'warning' }];
}

function checkThresholds(settings: AlignmentSettings): AlignmentFinding[] {
  if (settings.threshold >= settings.hard_threshold) return [];
  const message =
    'threshold is below hard_threshold, so no score is ever warned of; raise it or lower hard_threshold';
  return [{ path: ['threshold'], message, severity: 'warning' }];
}
