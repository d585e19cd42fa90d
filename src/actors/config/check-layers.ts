import {
  checkAlignment,
  checkCredentials,
  compileGuardrails,
  compileModify,
  type Guardrails,
  type Modify,
} from '../governance/governance.ts';
import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** The rules of the configuration as they run; `null` for a layer that is off, or whose rules do not all stand. */
export interface CompiledLayers {
  guardrails: Guardrails | null;
  modify: Modify | null;
}

/**
 * Compiles the rules of the layers of governance, and finds what is wrong in what they say of patterns, paths,
 * addresses and keys (docs/contract/governance.md). A layer that is off is not looked at; credentials cannot be
 * switched off.
 */
export function checkLayers(
  { security, credentials }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): { findings: Finding[]; layers: CompiledLayers } {
  const guardrails = security.guardrails.enabled ? compileGuardrails(security.guardrails) : null;
  const modify = security.modify.enabled ? compileModify(security.modify) : null;
  const alignment = checkAlignment(security.intent_alignment, env);
  return {
    findings: [
      ...under(['security', 'intent_alignment'], alignment),
      ...problemsOf('guardrails', guardrails),
      ...problemsOf('modify', modify),
      ...under(['credentials'], checkCredentials(credentials, env)),
    ],
    layers: {
      guardrails: guardrails?.ok === true ? guardrails.guardrails : null,
      modify: modify?.ok === true ? modify.modify : null,
    },
  };
}

function under(root: Path, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, path: [...root, ...finding.path] }));
}

type Compilation = { ok: true } | { ok: false; problems: Pick<Finding, 'path' | 'message'>[] };

function problemsOf(layer: 'guardrails' | 'modify', compilation: Compilation | null): Finding[] {
  if (compilation === null || compilation.ok) return [];
  return compilation.problems.map(({ path, message }) => ({
    path: ['security', layer, ...path],
    message,
    severity: 'error',
  }));
}
