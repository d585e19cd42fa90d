import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Skill } from '../actors/tools/tools.ts';

/** Returns the SHA-256 of the rules that decide on calls: those of `security`, with defaults, and those of the skills. */
export function policyDigest(
  { security }: Pick<ServiceConfig, 'security'>,
  skills: readonly Pick<Skill, 'id' | 'guardrails'>[],
): string {
  const ofSkills = skills.flatMap(({ id, guardrails }) =>
    guardrails === undefined ? [] : [{ id, rules: guardrails.value }],
  );
  return hash('sha256', canonicalize({ security, skills: ofSkills }) ?? '', 'hex');
}
