import { checkAlignment } from '../alignment/alignment.ts';
import { checkCredentials } from '../credentials/credentials.ts';
import { compileGuardrails } from '../guardrails/guardrails.ts';
import { compileModify } from '../modify/modify.ts';
import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';

/**
 * Checks what the layers of governance say of their own rules: patterns, paths, addresses and keys
 * (contract section 7). A layer that is off is not looked at; credentials cannot be switched off.
 */
export function checkLayers(
  { security, credentials }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const { guardrails, modify, intent_alignment: alignment } = security;
  return [
    ...under(['security', 'intent_alignment'], checkAlignment(alignment, env)),
    ...(guardrails.enabled ? problemsOf('guardrails', compileGuardrails(guardrails)) : []),
    ...(modify.enabled ? problemsOf('modify', compileModify(modify)) : []),
    ...under(['credentials'], checkCredentials(credentials, env)),
  ];
}

function under(root: Path, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, path: [...root, ...finding.path] }));
}

type Compilation = { ok: true } | { ok: false; problems: Pick<Finding, 'path' | 'message'>[] };

function problemsOf(layer: 'guardrails' | 'modify', compilation: Compilation): Finding[] {
  if (compilation.ok) return [];
  return compilation.problems.map(({ path, message }) => ({
    path: ['security', layer, ...path],
    message,
    severity: 'error',
  }));
}
