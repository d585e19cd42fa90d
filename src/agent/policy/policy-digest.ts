import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import canonicalize from 'canonicalize';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Skill } from '../../actors/tools/tools.ts';
import { patternsOf } from './policy-diff.ts';

type PolicyConfig = Pick<ServiceConfig, 'security' | 'credentials' | 'included' | 'gate' | 'mcp'>;
type PolicySkill = Pick<Skill, 'id' | 'guardrails'>;

/** Returns the SHA-256 of the rules that decide on calls, in their canonical form. */
export function policyDigest(config: PolicyConfig, skills: readonly PolicySkill[]): string {
  return hash('sha256', policyText(config, skills), 'hex');
}

/**
 * Returns the canonical form (RFC 8785) of the rules that decide on calls: `security` with its defaults, the included
 * policies, the entries of `credentials`, the views of callers, and the rules of the skills. The canonical form sorts
 * names, so patterns of tools in another order, which decides between rules, are listed as well.
 */
export function policyText(
  { security, credentials, included = [], gate, mcp: { views } }: PolicyConfig,
  skills: readonly PolicySkill[],
): string {
  const ofSkills = skills.flatMap(({ id, guardrails }) =>
    guardrails === undefined ? [] : [{ id, rules: guardrails.value }],
  );
  const unsorted = [...patternsOf({ security, included })].filter(
    ([, patterns]) => !isDeepStrictEqual(patterns, patterns.toSorted()),
  );
  const rules = {
    security: withoutEmpty(security),
    skills: ofSkills,
    ...(included.length === 0
      ? {}
      : {
          included: included.map(({ file, security: rules }) => ({
            file,
            security: withoutEmpty(rules),
          })),
        }),
    ...(unsorted.length === 0 ? {} : { order: Object.fromEntries(unsorted) }),
    ...(credentials.length === 0 ? {} : { credentials }),
    ...(gate === undefined ? {} : { gate: { ...gate } }),
    ...(views.length === 0 ? {} : { views }),
  };
  return canonicalize(rules) ?? '';
}

/** A policy without limits and effects has the digest that it had before there were any. */
function withoutEmpty({
  limits,
  effects,
  ...layers
}: PolicyConfig['security']): Partial<PolicyConfig['security']> {
  return {
    ...layers,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(effects).length === 0 ? {} : { effects }),
  };
}
