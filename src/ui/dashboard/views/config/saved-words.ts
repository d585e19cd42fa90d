import type { AgentJson } from '../../../../http/wire/dashboard/agent-json.ts';

/** Describes when an agent uses a saved configuration. */
export function savedWords({
  id,
  status,
  policy_reload: reload,
}: Pick<AgentJson, 'id' | 'status' | 'policy_reload'>): string {
  if (status !== 'running') return `Saved. ${id} uses it from its next start.`;
  const rules = reload === 'auto' ? ' Changed rules apply within seconds.' : '';
  return `Saved. Restart ${id} to apply it.${rules}`;
}

/** Describes when a running agent uses saved rules; `null` if it needs a restart, or does not run. */
export function savedRulesWords({
  id,
  status,
  policy_reload: reload,
}: Pick<AgentJson, 'id' | 'status' | 'policy_reload'>): string | null {
  if (status !== 'running' || reload === undefined) return null;
  return reload === 'auto'
    ? `Saved. ${id} applies the rules within seconds.`
    : `Saved. ${id} applies the rules at the next reload.`;
}
