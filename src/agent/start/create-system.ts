import type { InspectionEvent, Observer } from 'xstate';
import { dashboardProvider, type ServiceConfig } from '../../actors/config/config.ts';
import type { Every } from '../../actors/every.ts';
import {
  type CredentialIssuer,
  createToolViews,
  type Guardrails,
  type IntentScorer,
  type Modify,
  Policies,
  type PolicyVersion,
} from '../../actors/governance/governance.ts';
import type { Egress } from '../../actors/outbound/outbound.ts';
import { type People, PeopleDirectory } from '../../actors/people/people.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { type LanguageModel, ModelError } from '../../actors/ports/model.ts';
import type { RemoteCalls } from '../../actors/ports/tool.ts';
import { createModel, systemPrompt, TaskSystem } from '../../actors/tasks/tasks.ts';
import type { Toolbox } from '../../actors/tools/tools.ts';
import { version } from '../../version.ts';
import { createGovernance } from '../policy/agent-governance.ts';
import { createAgentCapture, createAgentScrub } from './agent-capture.ts';
import type { AgentRecords } from './open-records.ts';

/** Replacements for the parts of an agent that make outbound requests or read the system clock. */
export interface StandIns {
  model: LanguageModel;
  scorer: IntentScorer;
  issuer: CredentialIssuer;
  every: Every;
}

export interface SystemParts {
  config: ServiceConfig;
  toolbox: Toolbox;
  guardrails: Guardrails | null;
  modify: Modify | null;
  /** The digest of the policy in force. */
  policySha256: string;
  /** The model's system instructions; empty for none. */
  instructions: string;
  isAuthOn: boolean;
  directory: string;
  env: NodeJS.ProcessEnv;
  /** Values loaded from the secret files. */
  secretValues: readonly string[];
  clock: Clock;
  ids: Ids;
  log: Log;
  egress: Egress;
  audit: Pick<AgentRecords, 'store' | 'entity' | 'shared'>;
  /** The content of `people.yaml`. */
  people: People;
  /** Receives every event of every chart; `undefined` if the inspector is off. */
  inspect: Observer<InspectionEvent> | undefined;
  /** Calls that MCP servers continue as tasks; none is continued when absent. */
  remote?: RemoteCalls;
  /** For tests of the agent; the configured parts are used when absent. */
  standIns?: StandIns;
}

/** One version of an agent's policy, with the settings that it was created from. */
export interface AgentPolicy extends PolicyVersion {
  security: ServiceConfig['security'];
  included: NonNullable<ServiceConfig['included']>;
  /** Redacts a string for people and logs; throws if secrets cannot be searched for. */
  hide: (text: string) => string;
}

/** The policy of an agent as read from its files. */
export type ReadPolicy = Pick<SystemParts, 'config' | 'guardrails' | 'modify' | 'policySha256'>;

/** The policies of an agent, and the function that creates another version. */
export interface AgentPolicies {
  policies: Policies<AgentPolicy>;
  issuer: CredentialIssuer | null;
  /** The people who may decide, and the members of groups with views. */
  people: PeopleDirectory;
  /** Creates a version from changed files; only `config.security` may differ from the agent's configuration. */
  versionOf(read: ReadPolicy): AgentPolicy;
}

/** Creates the policies of an agent, with its first version in force. */
export function createPolicies(parts: SystemParts): AgentPolicies {
  const { tools, skills } = parts.toolbox;
  const scrub = createAgentScrub({ ...parts, skills });
  const { auth, approvals } = parts.config;
  const providers = [
    ...auth.providers.map(({ name }) => name),
    approvals?.sign_in.name ?? 'sign_in',
    dashboardProvider,
  ];
  const people = new PeopleDirectory(parts.people, providers);
  const views = createToolViews(parts.config.mcp.views, (caller) => {
    const email = caller.email ?? null;
    return { email, as: people.standingOf({ email, caller }, parts.clock.now()).as };
  });
  const govern = (read: ReadPolicy) =>
    createGovernance({
      ...parts,
      ...read,
      tools,
      views,
      scrub,
      outbound: parts.egress,
      ...parts.standIns,
    });
  const asVersion = (
    { config: { security, included = [] }, policySha256 }: ReadPolicy,
    { policy, scorer, hide }: Pick<AgentPolicy, 'policy' | 'scorer' | 'hide'>,
  ): AgentPolicy => ({
    sha256: policySha256,
    policy,
    scorer,
    mostWaiting: security.defer.max_pending_per_caller,
    security,
    included,
    hide,
  });
  const { issuer, ...first } = govern(parts);
  return {
    policies: new Policies(asVersion(parts, first)),
    issuer,
    people,
    versionOf: (read) => asVersion(read, govern(read)),
  };
}

/** Creates an agent's task system from its configuration and policies, not yet started. */
export function createSystem(
  parts: SystemParts,
  { policies, issuer, people }: Omit<AgentPolicies, 'versionOf'> = createPolicies(parts),
): TaskSystem {
  const { config, toolbox, egress, audit, inspect, standIns } = parts;
  return new TaskSystem({
    store: audit.store,
    shared: audit.shared?.shared ?? null,
    people,
    model: standIns?.model ?? (config.gate === undefined ? modelOf(parts) : noModel),
    policies,
    issuer,
    tools: toolbox.tools,
    remote: parts.remote ?? null,
    clock: parts.clock,
    ids: parts.ids,
    log: parts.log,
    egress,
    envelope: audit.entity,
    vocabulary: config.audit.vocabulary,
    capture: createAgentCapture(config, (text) => policies.current.hide(text)),
    restAfter: 3_000,
    release: version,
    limits: {
      turns: config.model.max_turns,
      failedTurns: config.model.max_failed_turns,
      tokens: config.model.max_tokens_per_task ?? null,
      time: config.model.max_time,
    },
    onToolError: onToolErrorOf(config.model),
    // The program of a hold asks for it again, however long the daemon was away.
    onRestart: config.gate === undefined ? config.security.defer.on_restart : 'resume',
    retention: config.store.retention,
    ...(inspect === undefined ? {} : { inspect }),
    ...(standIns === undefined ? {} : { every: standIns.every }),
  });
}

/** The model of a gate. */
const noModel: LanguageModel = {
  provider: 'none',
  name: 'gate',
  next: () =>
    Promise.reject(
      new ModelError(
        'this agent is a gate and has no model; send the calls of your agent to POST /holds',
      ),
    ),
};

function modelOf({
  config,
  toolbox,
  egress,
  env,
  clock,
  instructions,
}: SystemParts): LanguageModel {
  const prompt = systemPrompt(instructions, toolbox);
  return createModel(config.model, {
    env,
    clock,
    fetch: egress.fetch,
    tools: () => toolbox.tools.values().filter(({ isElsewhere }) => isElsewhere !== true),
    instructions: () => prompt,
  });
}

/** A scripted model cannot react to a tool error; a real model can. */
function onToolErrorOf({ on_tool_error, provider }: ServiceConfig['model']): 'fail' | 'return' {
  return on_tool_error ?? (provider === 'scripted' ? 'fail' : 'return');
}
