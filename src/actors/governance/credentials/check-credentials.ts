import { normalName } from '../../tool-name.ts';
import { findBaseIdentity, readAssumeRoleSpec } from './assume-role-spec.ts';
import type { CredentialEntry, CredentialFinding, Environment } from './credential-entry.ts';
import { checkStaticSpec, readStaticSpec } from './static-spec.ts';

/**
 * Checks the entries of `credentials`: valid specs, one entry for each tool, and all referenced variables set
 * (docs/contract/configuration.md). Paths are relative to the list; no value is ever shown.
 */
export function checkCredentials(
  entries: readonly CredentialEntry[],
  env: Environment,
): CredentialFinding[] {
  const tools = entries.map(({ tool }) => normalName(tool));
  return entries.flatMap((entry, index) => [
    ...(tools.indexOf(normalName(entry.tool)) < index ? [repeated(index)] : []),
    ...specFindings(entry, env).map((finding) => ({
      ...finding,
      path: [index, 'spec', ...finding.path],
    })),
  ]);
}

function repeated(index: number): CredentialFinding {
  const message = 'an earlier entry is for this tool; keep one entry for each tool';
  return { path: [index, 'tool'], message, severity: 'error' };
}

function specFindings({ provider, spec }: CredentialEntry, env: Environment): CredentialFinding[] {
  switch (provider) {
    case 'static': {
      const reading = readStaticSpec(spec);
      return reading.ok ? checkStaticSpec(reading.spec, env) : reading.findings;
    }
    case 'sts_assume_role': {
      const reading = readAssumeRoleSpec(spec);
      if (!reading.ok) return reading.findings;
      const identity = findBaseIdentity(reading.spec, env);
      return identity.ok ? [] : identity.findings;
    }
  }
}
