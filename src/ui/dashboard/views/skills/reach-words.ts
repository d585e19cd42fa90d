import type { SkillPlanJson } from '../../../../http/wire/dashboard/skill-json.ts';

/** Describes the hosts that a skill's scripts may reach once it is added. */
export function reachWords({
  scripts_reach: hosts,
  egress_mode: mode,
}: Pick<SkillPlanJson, 'scripts_reach' | 'egress_mode'>): string {
  if (mode === 'deny-all') return 'its scripts reach nothing (mode: deny-all)';
  if (mode === 'dev-open') return 'its scripts reach every host (mode: dev-open)';
  return hosts.length === 0
    ? 'its scripts are given no host'
    : `its scripts may reach ${hosts.join(', ')}; no other tool may by it`;
}
