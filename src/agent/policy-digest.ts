import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Skill } from '../actors/tools/tools.ts';

/**
 * Returns the SHA-256 of the rules that decide on calls: `security` with its defaults, the entries of `credentials`,
 * and the rules of the skills.
 */
export function policyDigest(
  { security, credentials }: Pick<ServiceConfig, 'security' | 'credentials'>,
  skills: readonly Pick<Skill, 'id' | 'guardrails'>[],
): string {
  const ofSkills = skills.flatMap(({ id, guardrails }) =>
    guardrails === undefined ? [] : [{ id, rules: guardrails.value }],
  );
  const rules = {
    security,
    skills: ofSkills,
    ...(credentials.length === 0 ? {} : { credentials }),
  };
  return hash('sha256', canonicalize(rules) ?? '', 'hex');
}
