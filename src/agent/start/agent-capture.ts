import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { compileGuardrails, redactSecrets } from '../../actors/governance/governance.ts';
import { type Capture, createCapture } from '../../actors/records/records.ts';
import type { Skill } from '../../actors/tools/tools.ts';
import { isJsonObject, type JsonValue } from '../../machines/json.ts';

/** The configuration must already be validated. */
export interface CaptureParts {
  config: ServiceConfig;
  skills: readonly Skill[];
  directory: string;
  env: NodeJS.ProcessEnv;
  /** Values loaded from the secret files. */
  secretValues: readonly string[];
}

/** Variables that hold secrets even if the configuration does not name them. */
export const usualVariables: readonly string[] = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'SERVICE_PLATFORM_TOKEN',
];

/**
 * Creates the function that removes secrets from stored text. The function throws if it cannot check the text. It
 * removes matches of the built-in redaction rules of the group `secrets`, the values of every variable that the
 * configuration reads a secret from or that a skill declares for its scripts, the values of the secret files, and the
 * daemon's own token.
 */
export function createAgentScrub(parts: CaptureParts): (text: string) => string {
  const values = knownSecrets(parts);
  let token: string | null = null;
  return (text) => {
    // The token is created after the store opens and before the first caller is admitted.
    token ??= runtimeToken(parts.directory);
    return secretDetector()(redactSecrets(text, [...values, token]));
  };
}

/** Creates the content capture for the audit log as configured by `audit.capture`; `null` if capture is off. */
export function createAgentCapture(
  { audit }: ServiceConfig,
  scrub: (text: string) => string,
): Capture | null {
  return createCapture(audit.capture, () => scrub);
}

let detector: ((text: string) => string) | null = null;

/**
 * Compiled on first use and once in a process: the rules are slow to compile, and many agents start without any task to
 * run.
 */
function secretDetector(): (text: string) => string {
  detector ??= compiledDetector();
  return detector;
}

function compiledDetector(): (text: string) => string {
  const none = { deny_commands: [], deny_prompts: [], deny_output: [], denied_tools: [] };
  const compiled = compileGuardrails({ ...none, redact: ['secrets'] });
  if (!compiled.ok) throw new Error('the built-in redaction rules do not compile');
  const { guardrails } = compiled;
  return (text) => {
    const checked = guardrails.checkOutput(text);
    if (checked.kind === 'blocked') throw new Error('a string could not be checked for secrets');
    return checked.text;
  };
}

function knownSecrets({ config, skills, env, secretValues }: CaptureParts): string[] {
  const declared = skills.flatMap(({ tools }) => tools.flatMap(({ environment }) => environment));
  const names = [...declared, ...usualVariables, ...namedVariables(config as unknown as JsonValue)];
  const values = [...names.map((name) => env[name] ?? ''), ...secretValues];
  return [...new Set(values)].filter((value) => value !== '');
}

/** Collects the variables named by keys such as `token_env` and `from_env` at any depth. */
export function namedVariables(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(namedVariables);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key.endsWith('_env') && typeof member === 'string' ? [member] : namedVariables(member),
  );
}

function runtimeToken(directory: string): string {
  return readFileSync(join(directory, '.service', 'runtime.token'), 'utf8').trim();
}
