import { formatProblem, type ServiceConfig } from '../../actors/config/config.ts';
import type { AgentDescription } from '../../actors/workspace/workspace.ts';
import { heldTools } from '../../agent/policy/ruled-tools.ts';
import { needsPassphrase } from '../../agent/start/agent-environment.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { isAssumed, lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import { messageOf } from '../../machines/message-of.ts';

/** Maximum length of an agent's problem text in characters. */
const longestProblem = 4_096;

/**
 * Describes the contents of an agent's files, as far as they are readable. Never rejects.
 *
 * @param issuer the issuer at which the people of the dashboard sign in; `null` without one
 */
export async function describeAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  issuer: string | null = null,
): Promise<AgentDescription> {
  try {
    const given = await lenientEnvironment(directory, env);
    const found = await checkAgent(directory, given);
    const { config, problems, warnings, skills, tools, policySha256 } = found;
    return {
      agentId: config?.agent_id ?? null,
      version: config?.version ?? '',
      model: config === null ? null : modelOfAgent(config),
      fallbacks: config?.model.fallbacks.map(modelOf) ?? [],
      tools,
      heldTools: config === null ? [] : heldTools(config, tools),
      channels: config?.channels ?? [],
      skills,
      needsPassphrase: needsPassphrase(directory, env),
      onRestart: config?.security.defer.on_restart ?? 'abandon',
      warnings: [
        ...warnings.map(formatProblem),
        ...(config === null ? [] : closedTo(issuer, config)),
      ],
      policySha256: isAssumed(config?.security) ? null : policySha256,
      problem:
        problems.length === 0
          ? null
          : problems.map(formatProblem).join('\n').slice(0, longestProblem),
    };
  } catch (error) {
    const problem = messageOf(error);
    return { ...unknown, problem: problem.slice(0, longestProblem) };
  }
}

/** Warns of an agent that people at the public address can neither see nor decide for. */
function closedTo(issuer: string | null, { auth }: ServiceConfig): string[] {
  if (issuer === null || auth.dashboard_issuer === issuer) return [];
  return [
    `service.yaml: people who sign in to the dashboard have no access to this agent; set auth.dashboard_issuer to ${issuer}`,
  ];
}

const unknown: AgentDescription = {
  agentId: null,
  version: '',
  model: null,
  fallbacks: [],
  tools: [],
  heldTools: [],
  channels: [],
  skills: [],
  needsPassphrase: false,
  onRestart: 'abandon',
  warnings: [],
  policySha256: null,
  problem: null,
};

function modelOfAgent({ gate, model }: Pick<ServiceConfig, 'gate' | 'model'>) {
  return gate === undefined ? modelOf(model) : { provider: 'none', name: 'none (gate)' };
}

function modelOf({ provider, name }: { provider: string; name: string }) {
  return { provider, name };
}
