import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';
import { compileGuardrails, redactSecrets } from '../actors/governance/governance.ts';
import { type Capture, createCapture } from '../actors/records/records.ts';
import type { Skill } from '../actors/tools/tools.ts';
import { isJsonObject, type JsonValue } from '../machines/json.ts';

/** The configuration has been checked. */
export interface CaptureParts {
  config: ServiceConfig;
  skills: readonly Skill[];
  /** The agent's folder. */
  directory: string;
  env: NodeJS.ProcessEnv;
  /** Values that came from the files of secrets. */
  secretValues: readonly string[];
}

/** Variables that hold secrets although no configuration names them. */
const usualVariables = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'SERVICE_PLATFORM_TOKEN',
];

/**
 * Creates what takes the secrets out of a text that is kept; it throws where they cannot be looked for.
 * Scrubbed are what the built-in redaction rules of the group `secrets` find, and the values of every variable that
 * the configuration takes a secret from or that a skill declares for its scripts, the secrets of its files, and the
 * daemon's own token.
 */
export function createAgentScrub(parts: CaptureParts): (text: string) => string {
  const values = knownSecrets(parts);
  let detect: ((text: string) => string) | null = null;
  let token: string | null = null;
  return (text) => {
    // It is made after the store is open, and before anybody is let in.
    token ??= runtimeToken(parts.directory);
    // What it looks for takes a while to compile, and many agents are started to do nothing yet.
    detect ??= secretDetector();
    return detect(redactSecrets(text, [...values, token]));
  };
}

/** Creates the capture of contents into the audit log, as `audit.capture` asks; `null` while nothing is captured. */
export function createAgentCapture(
  { audit }: ServiceConfig,
  scrub: (text: string) => string,
): Capture | null {
  return createCapture(audit.capture, () => scrub);
}

function secretDetector(): (text: string) => string {
  const none = { deny_commands: [], deny_prompts: [], deny_output: [], denied_tools: [] };
  const compiled = compileGuardrails({ ...none, redact: ['secrets'] });
  if (!compiled.ok) throw new Error('the built-in redaction rules do not compile');
  const { guardrails } = compiled;
  return (text) => {
    const checked = guardrails.checkOutput(text);
    if (checked.kind === 'blocked') throw new Error('a text could not be checked for secrets');
    return checked.text;
  };
}

function knownSecrets({ config, skills, env, secretValues }: CaptureParts): string[] {
  const declared = skills.flatMap(({ tools }) => tools.flatMap(({ environment }) => environment));
  const names = [...declared, ...usualVariables, ...namedVariables(config as unknown as JsonValue)];
  const values = [...names.map((name) => env[name] ?? ''), ...secretValues];
  return [...new Set(values)].filter((value) => value !== '');
}

/** The variables that keys such as `token_env` and `from_env` name, wherever they stand. */
function namedVariables(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(namedVariables);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key.endsWith('_env') && typeof member === 'string' ? [member] : namedVariables(member),
  );
}

function runtimeToken(directory: string): string {
  return readFileSync(join(directory, '.service', 'runtime.token'), 'utf8').trim();
}
