import type { SkillPlanJson } from '../../../../http/wire/dashboard/skill-json.ts';

/** Describes the hosts that a skill's scripts may reach once it is added. */
export function reachWords({
  scripts_reach: hosts,
  egress_mode: mode,
}: Pick<SkillPlanJson, 'scripts_reach' | 'egress_mode'>): string {
  if (mode === 'deny-all') return 'scripts have no network access (mode: deny-all)';
  if (mode === 'dev-open') return 'scripts can reach every host (mode: dev-open)';
  return hosts.length === 0
    ? 'scripts have no allowed hosts'
    : `scripts can reach ${hosts.join(', ')}; other tools cannot`;
}
