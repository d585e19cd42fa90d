import { gapJson, policyGap, type WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { AgentJson } from '../../http/wire/dashboard/agent-json.ts';
import { localUrl } from '../../machines/url-of.ts';

/** Formats an agent of the workspace; `pending` is its number of held calls. */
export function presentAgent(agent: WorkspaceAgent, pending: number): AgentJson {
  const { id, directory, description, state, served, silentSince } = agent;
  const error = agent.error ?? description.problem;
  const gap = policyGap(directory, served, description.policySha256);
  return {
    id,
    version: description.version,
    directory,
    model: description.model,
    fallbacks: description.fallbacks,
    tools: description.tools,
    held_tools: description.heldTools,
    channels: description.channels,
    skills: description.skills,
    status: state,
    ...(served === null
      ? {}
      : { port: served.port, url: localUrl(served), started_at: served.startedAt }),
    ...(silentSince === null ? {} : { not_responding_since: new Date(silentSince).toISOString() }),
    ...(error === null ? {} : { error }),
    needs_passphrase: state !== 'running' && description.needsPassphrase,
    pending_deferrals: served === null ? 0 : pending,
    on_restart: description.onRestart,
    ...(gap === null ? {} : { policy_differs: gapJson(gap) }),
    ...(served?.policyReload === undefined ? {} : { policy_reload: served.policyReload }),
    warnings: description.warnings,
    ...(agent.flags.length === 0 ? {} : { start_flags: [...agent.flags] }),
    ...(agent.isHere ? { in_dashboard: true as const } : {}),
  };
}
