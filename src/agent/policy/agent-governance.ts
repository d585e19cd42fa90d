import type { IncludedPolicy, ServiceConfig } from '../../actors/config/config.ts';
import {
  type CredentialIssuer,
  compileGuardrails,
  compileModify,
  createCachingEmbedder,
  createCredentialIssuer,
  createEmbedder,
  createIntentScorer,
  createPolicy,
  type Guardrails,
  hiding,
  holdRule,
  type IntentScorer,
  type Modify,
  type Policy,
  type ToolViews,
  withIncluded,
} from '../../actors/governance/governance.ts';
import { nearestName } from '../../actors/nearest-name.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Outbound } from '../../actors/ports/egress.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { GateTools } from '../../actors/tools/tools.ts';
import type { Separation } from '../../machines/domain/task.ts';

/** The governance layers of an agent. Layers that make outbound requests are `null` when off. */
export interface Governance {
  policy: Policy;
  scorer: IntentScorer | null;
  issuer: CredentialIssuer | null;
  /** Redacts a string for people and logs, by the rules of the agent and of its included policies. */
  hide: (text: string) => string;
}

/** The configuration must already be validated and its rules compiled. */
export interface GovernanceParts {
  config: Pick<ServiceConfig, 'agent_id' | 'security' | 'credentials' | 'included' | 'gate'> & {
    auth: Pick<ServiceConfig['auth'], 'providers'>;
  };
  /** True if every caller is authenticated. */
  isAuthOn: boolean;
  tools: ReadonlyMap<string, Tool>;
  /** The tools of each caller; every caller sees every tool when absent. */
  views?: ToolViews;
  guardrails: Guardrails | null;
  modify: Modify | null;
  /** Removes secrets from stored text. */
  scrub: (text: string) => string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** Replaces the configured embedder when intent alignment is on. */
  scorer?: IntentScorer;
  /** Replaces the configured credential providers. */
  issuer?: CredentialIssuer;
  /** Sends the requests to the embedder and the token service; sent directly when absent. */
  outbound?: Outbound;
}

/** Maximum number of cached embeddings of action texts. */
const keptEmbeddings = 1_000;

/** Assembles every governance layer for an agent's calls (docs/contract/governance.md). */
export function createGovernance(parts: GovernanceParts): Governance {
  const { agent_id: agentId, security, credentials, included = [] } = parts.config;
  const issuer = issuerOf(credentials, parts);
  const others = included.map((policy) => ({ ...policy, ...compiledLayers(policy) }));
  // A change is shown with the redaction of every policy.
  const scrub = others.reduce((hide, one) => hiding(hide, one.guardrails), parts.scrub);
  const { isAuthOn, tools, views, env, guardrails, modify } = parts;
  const separation = separationOf(parts.config);
  const common = { agentId, isAuthOn, tools, views, scrub, separation };
  const own = createPolicy({
    ...common,
    security,
    guardrails,
    modify,
    credentials: issuer,
    environment: variablesOf(security.policy.environment, env),
    unlisted: unlistedRule(parts),
  });
  const policy = others.reduce(
    (joined, one) =>
      withIncluded(
        joined,
        createPolicy({
          ...common,
          ...one,
          from: one.file,
          credentials: null,
          environment: variablesOf(one.security.policy.environment, env),
        }),
      ),
    own,
  );
  const scorer = intentScorerOf(security.intent_alignment, parts);
  return { policy, scorer, issuer, hide: hiding(scrub, guardrails) };
}

/** Compiles the layers of an included policy, which have been checked before. */
function compiledLayers({
  file,
  security,
}: IncludedPolicy): Pick<GovernanceParts, 'guardrails' | 'modify'> {
  const guardrails = security.guardrails.enabled ? compileGuardrails(security.guardrails) : null;
  const modify = security.modify.enabled ? compileModify(security.modify) : null;
  if (guardrails?.ok === false || modify?.ok === false) {
    throw new Error(`the rules of ${file} do not compile`);
  }
  return { guardrails: guardrails?.guardrails ?? null, modify: modify?.modify ?? null };
}

/** Returns the rule for the tools that no entry of a gate matches; `undefined` if they are not held. */
function unlistedRule({ config: { gate, security }, tools }: GovernanceParts) {
  if (gate?.unknown !== 'defer') return undefined;
  const rule = holdRule(gate.to, security.defer.default_timeout);
  // The tools of MCP servers are for other surfaces, whose callers need not see them.
  const named = [...tools.values()].flatMap(({ name, isElsewhere }) => (isElsewhere ? [name] : []));
  const hintOf = (tool: string) =>
    tools instanceof GateTools && tools.isUnlisted(tool) ? unlistedHint(tool, named) : null;
  return { rule, name: 'gate.unknown', hintOf };
}

/** A name that a program wrote wrongly waits like any other, so the program and the approver must see it. */
function unlistedHint(tool: string, listed: readonly string[]): string {
  const near = nearestName(tool, listed);
  return `gate.tools lists no such tool${near === null ? '' : `; the nearest is ${near}`}`;
}

/** Returns which callers of a gate with sign-in may not decide (docs/contract/holds.md). */
function separationOf({ gate, auth }: GovernanceParts['config']): Separation | undefined {
  if (gate === undefined || auth.providers.length === 0) return undefined;
  const tokens = auth.providers.filter((one) => one.type === 'static_token');
  const programs = tokens.filter(({ decide }) => !decide).map(({ name }) => name);
  const deciders = tokens.filter(({ decide }) => decide).map(({ name }) => name);
  return { programs, deciders: deciders.filter((name) => !programs.includes(name)) };
}

/** Returns the variables that conditions may read; an unset one is absent. */
function variablesOf(
  names: readonly string[],
  env: NodeJS.ProcessEnv,
): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

function issuerOf(
  credentials: ServiceConfig['credentials'],
  parts: GovernanceParts,
): CredentialIssuer | null {
  if (credentials.length === 0) return null;
  return parts.issuer ?? createCredentialIssuer(credentials, parts);
}

function intentScorerOf(
  alignment: ServiceConfig['security']['intent_alignment'],
  parts: GovernanceParts,
): IntentScorer | null {
  if (!alignment.enabled) return null;
  if (parts.scorer !== undefined) return parts.scorer;
  const { threshold, hard_threshold: hardThreshold } = alignment;
  const { env, clock, outbound } = parts;
  const ports = { env, clock, ...(outbound === undefined ? {} : { fetch: outbound.fetch }) };
  return createIntentScorer({
    embedder: createCachingEmbedder(createEmbedder(alignment, ports), { max: keptEmbeddings }),
    thresholds: { threshold, hardThreshold },
    log: parts.log,
  });
}
