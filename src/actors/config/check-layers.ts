import {
  checkAlignment,
  checkCredentials,
  compileGuardrails,
  compileModify,
  type Guardrails,
  type Modify,
} from '../governance/governance.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** The compiled rules of the configuration; `null` for a layer that is off or has an invalid rule. */
export interface CompiledLayers {
  guardrails: Guardrails | null;
  modify: Modify | null;
}

/**
 * Compiles the rules of the governance layers and reports invalid patterns, paths, addresses and keys
 * (docs/contract/governance.md). A layer that is off is skipped; credentials cannot be switched off.
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
  return compilation.problems.map(({ path, message }) =>
    errorAt(['security', layer, ...path], message),
  );
}
