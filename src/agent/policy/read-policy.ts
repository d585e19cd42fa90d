import { isDeepStrictEqual } from 'node:util';
import {
  askingRules,
  type ConfigProblem,
  loadConfig,
  type PlacedPolicy,
  readPeople,
  type ServiceConfig,
  unknownApprovers,
} from '../../actors/config/config.ts';
import { readSkills } from '../../actors/tools/tools.ts';
import { splitTarget } from '../../machines/channels/approval-notice.ts';
import { escalationTargets } from '../../machines/governance/escalation-targets.ts';
import { readWritable } from '../start/agent-writable.ts';
import type { ReadPolicy } from '../start/create-system.ts';
import { mcpToolsSeen } from '../start/mcp-tools-seen.ts';
import type { Start } from '../start/read-start.ts';
import { readGuardrails } from './agent-guardrails.ts';
import { boundProblems } from './bound-problems.ts';
import { namedTools } from './named-tools.ts';
import { policyDigest } from './policy-digest.ts';
import { conditionProblems } from './rule-conditions.ts';
import { rulesWithoutTools } from './ruled-tools.ts';

/** An agent that runs, with the configuration that it was started with. */
export type RunningAgent = Pick<
  Start,
  'directory' | 'config' | 'toolbox' | 'channels' | 'env' | 'isAuthOn'
>;

/** The policy in the files of a running agent. */
export interface PolicyReading {
  /** The policy may not come into force if there are any. */
  problems: ConfigProblem[];
  /** `null` if the files cannot be read. */
  policy: ReadPolicy | null;
  /** Digest that the policy will have at the next start; `null` if the files cannot be read. */
  fileSha256: string | null;
  /** Settings that differ from those of the start and apply at the next one. */
  later: string[];
  /** Files of included policies, found or not, relative to the agent's folder. */
  files: readonly string[];
}

/** Keys of `security` that are read only at the start of an agent. */
const keysOfStart = [
  ...(['enabled', 'provider', 'model', 'base_url', 'api_key_env'] as const).map(
    (key) => ['intent_alignment', key] as const,
  ),
  ...(['bind_approver', 'on_restart', 'on_stream_disconnect'] as const).map(
    (key) => ['defer', key] as const,
  ),
] as const;

/** Keys of `service.yaml` that the card takes from the file while the agent runs. */
const keysOfCard: ReadonlySet<string> = new Set(['version', 'description', 'card']);

/**
 * Reads the policy of a running agent's files, and checks it against the tools, channels and sign-in that the agent was
 * started with. Everything else stays as it was at the start.
 */
export async function readPolicy(running: RunningAgent): Promise<PolicyReading> {
  const { directory, env, config: started, toolbox } = running;
  const loaded = loadConfig(directory, env);
  const { files } = loaded;
  if (!loaded.ok) {
    return { problems: loaded.problems, policy: null, fileSha256: null, later: [], files };
  }
  const { config: written, layers } = loaded;
  const security = withKeysOfStart(written.security, started.security);
  const config: ServiceConfig = { ...started, security, included: written.included ?? [] };
  const { skills } = toolbox;
  const { guardrails, problems } = readGuardrails(security.guardrails, layers.guardrails, skills);
  const seen = mcpToolsSeen(directory, started);
  const included = loaded.policies.slice(1);
  const placed = [{ config, problemAt: loaded.problemAt }, ...included];
  const tools = namedTools(started, toolbox, seen);
  const people = readPeople(directory, env);
  const inFile = await readSkills(directory, { mainPath: written.skills.path });
  // A script could change an included file in a folder that it may write to.
  const writable = await readWritable(directory, { ...loaded, config }, skills);
  return {
    problems: [
      ...rulesWithoutTools(placed, tools, seen, { isRunning: true }).problems,
      ...placed.flatMap((policy) => conditionProblems(policy, toolbox.tools)),
      ...placed.flatMap((policy) => boundProblems(policy, toolbox.tools)),
      ...people.problems,
      ...(people.problems.length > 0
        ? []
        : placed.flatMap((policy) => unknownApprovers(policy, people.people, started))),
      ...loaded.policies.flatMap((policy) => unmetNeeds(policy, running)),
      ...(bindsApprover(started) ? [] : included.flatMap(newBinding)),
      ...writable.problems,
      ...problems.map((problem) => ({ path: '', ...problem })),
    ],
    policy: {
      config,
      guardrails,
      modify: layers.modify,
      policySha256: policyDigest(config, skills),
    },
    files,
    fileSha256: policyDigest(written, inFile.skills),
    later: [
      ...keysOfStart
        .filter(([layer, key]) => !isEqualAt(written.security, started.security, layer, key))
        .map(([layer, key]) => `security.${layer}.${key}`),
      ...Object.keys(written).filter(
        (key) =>
          key !== 'security' &&
          key !== 'included' &&
          !keysOfCard.has(key) &&
          !isDeepStrictEqual(
            written[key as keyof ServiceConfig],
            started[key as keyof ServiceConfig],
          ),
      ),
      ...(policyDigest(config, inFile.skills) === policyDigest(config, skills)
        ? []
        : ['the rules of the skills']),
    ],
  };
}

type Security = ServiceConfig['security'];

function withKeysOfStart(written: Security, started: Security): Security {
  const kept = <Layer extends 'intent_alignment' | 'defer'>(layer: Layer): Security[Layer] => {
    const own = keysOfStart.filter(([of]) => of === layer).map(([, key]) => key as string);
    const before = Object.entries(started[layer]).filter(([key]) => own.includes(key));
    const now = Object.entries(written[layer]).filter(([key]) => !own.includes(key));
    return Object.fromEntries([...now, ...before]) as Security[Layer];
  };
  return { ...written, intent_alignment: kept('intent_alignment'), defer: kept('defer') };
}

function isEqualAt(one: Security, other: Security, layer: keyof Security, key: string): boolean {
  const at = (security: Security) => (security[layer] as Record<string, unknown>)[key];
  return isDeepStrictEqual(at(one), at(other));
}

/** Returns whether the policy of an agent, or an included one, accepts verified approvers only. */
export function bindsApprover({ security, included = [] }: ServiceConfig): boolean {
  return [security, ...included.map((one) => one.security)].some(
    ({ defer }) => defer.bind_approver,
  );
}

/** The sign-in was opened without the proof of emails that `bind_approver` needs. */
function newBinding({ config, problemAt }: PlacedPolicy): ConfigProblem[] {
  if (!config.security.defer.bind_approver) return [];
  const message =
    'no policy had bind_approver when the agent was started; restart it to apply the file';
  return [problemAt(['security', 'defer', 'bind_approver'], message)];
}

/** Finds rules that need a channel, a webhook or a sign-in that the agent was started without. */
function unmetNeeds(
  { config: { security, channels }, problemAt }: PlacedPolicy,
  { config: started, channels: running, isAuthOn }: RunningAgent,
): ConfigProblem[] {
  const restart = 'restart the agent to apply the file';
  const needsSignIn = security.step_up.enabled && !isAuthOn;
  const signIn = `the agent was started without sign-in, so no caller could step up; ${restart}`;
  const unmet = askingRules(security).flatMap(({ rule, path }) =>
    [...rule.to, ...escalationTargets(rule.escalate_to)].flatMap((to) => {
      const { adapter, target } = splitTarget(to);
      const isNew = channels.includes(adapter) && !started.channels.includes(adapter);
      const named = adapter === 'webhook' || adapter === 'teams' ? running[adapter] : null;
      const isUnknown = named ? !Object.hasOwn(named.targets, target) : false;
      return isNew || isUnknown
        ? [problemAt([...path, 'to'], `the agent was started without ${to}; ${restart}`)]
        : [];
    }),
  );
  return [
    ...(needsSignIn ? [problemAt(['security', 'step_up', 'enabled'], signIn)] : []),
    ...unmet,
  ];
}
