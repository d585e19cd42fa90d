import {
  denialsOfTool,
  formatProblem,
  rulesOfTool,
  type ServiceConfig,
  sourcesOfRules,
} from '../../actors/config/config.ts';
import { effectiveHosts } from '../../actors/outbound/outbound.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { serverOfTool } from '../../actors/tools/tools.ts';
import { namedTools } from '../../agent/policy/named-tools.ts';
import { shadowRules } from '../../agent/policy/ruled-tools.ts';
import { derivedEndpoints } from '../../agent/start/derived-endpoints.ts';
import { readAgent } from '../../agent/start/read-agent.ts';
import type { PolicyJson, ToolPolicyJson } from '../../http/wire/dashboard/policy-json.ts';
import { answerWindow } from '../../machines/channels/conversation-limits.ts';
import { optionTerms, optionWords } from '../../machines/domain/rule-options.ts';
import { formatDuration } from '../../machines/duration.ts';
import {
  type EscalateTo,
  escalationTargets,
} from '../../machines/governance/escalation-targets.ts';
import { approvalsIn } from '../../machines/governance/quorum.ts';
import { admissionOf } from './admission-of.ts';
import type { AuditReader } from './audit-reader.ts';
import { boundDecisions } from './bound-decisions.ts';
import { shadowCounts, shadowDays } from './shadow-counts.ts';

/** Fraction of the timeout after which a second target is asked. */
const escalatesAfter = 0.75;

/** Summarises the effective policy of an agent's configuration; `null` if the configuration is invalid. */
export async function policyOf(
  directory: string,
  env: NodeJS.ProcessEnv,
  audit: Pick<AuditReader, 'page'>,
): Promise<PolicyJson | null> {
  const { agent, problems, warnings } = await readAgent(directory, env, systemClock());
  if (agent === null || problems.length > 0) return null;
  const { config, toolbox, seen, channels } = agent;
  const { admission, warnings: started } = await admissionOf(directory, env, audit);
  const shadow = new Set(shadowRules(config));
  const since = systemClock().now() - shadowDays * 86_400_000;
  const counts =
    shadow.size === 0 ? new Map<string, number>() : await shadowCounts(directory, audit, since);
  const counted = (policy: ToolPolicyJson): ToolPolicyJson => ({
    ...policy,
    decisions: policy.decisions.map((decision) =>
      shadow.has(decision.rule)
        ? { ...decision, shadow: { times: counts.get(decision.rule) ?? 0, days: shadowDays } }
        : decision,
    ),
  });
  const { mode, allowed_domains: domains, allowed_private: privates } = config.egress;
  const endpoints = derivedEndpoints(config, {
    env,
    admissionUrl: admission.url ?? null,
    tracingUrl: null,
    skills: toolbox.skills,
    channels,
  });
  const listed =
    mode === 'deny-all' ? { domains: [], private: [] } : { domains, private: privates };
  const builtin = new Set<string>(config.builtin_tools);
  const { providers, required } = config.auth;
  return {
    tools: namedTools(config, toolbox, seen)
      .toSorted()
      .map((name) =>
        counted(toolPolicy(config, name, originOf(name, builtin, config.mcp.servers))),
      ),
    egress: {
      mode,
      hosts: effectiveHosts(listed, endpoints).entries.map(({ host, port, source }) => ({
        host: port === null ? host : `${host}:${port}`,
        origin: source,
      })),
    },
    auth: {
      providers: providers.map(({ type }) => type),
      required: required || providers.length > 0,
    },
    admission,
    unknown_servers: [...seen].flatMap(([name, tools]) => (tools === null ? [name] : [])),
    warnings: [...warnings.map(formatProblem), ...started],
  };
}

function originOf(
  name: string,
  builtin: ReadonlySet<string>,
  servers: Parameters<typeof serverOfTool>[1],
): string {
  if (builtin.has(name)) return 'builtin';
  const server = serverOfTool(name, servers);
  return server === undefined ? 'skill' : `mcp: ${server}`;
}

/** Describes each layer's effect on a tool, in evaluation order. */
function toolPolicy(config: ServiceConfig, name: string, origin: string): ToolPolicyJson {
  const { intent_alignment: alignment, defer } = config.security;
  const sources = sourcesOfRules(config);
  const decisions: ToolPolicyJson['decisions'] = [];
  const say = (layer: string, decision: string, rule: string, says: string): void =>
    void decisions.push({ layer, decision, rule, says });
  for (const { from, security: source } of sources) {
    for (const { rule, name: ruleName } of denialsOfTool(source.guardrails, name)) {
      say('guardrails', 'deny', from + ruleName, terms(rule, 'never runs'));
    }
  }
  if (alignment.enabled) {
    const says = `runs if its intent score is ${alignment.threshold} or more`;
    say('intent_alignment', 'score', 'intent_alignment', says);
  }
  const rulesOf = <Rule>(
    layer: 'step_up' | 'modify' | 'defer',
    layerOf: (source: ServiceConfig['security']) => {
      enabled: boolean;
      tools: Record<string, Rule[]>;
    },
  ) =>
    sources.flatMap(({ from, security: source }) =>
      rulesOfTool(layer, layerOf(source), name).map(({ rule, name: ruleName }) => ({
        ...{ rule, at: from + ruleName },
      })),
    );
  const steps = rulesOf('step_up', ({ step_up: layer }) => layer);
  for (const { rule, at } of steps) {
    say('step_up', 'require', at, terms(rule, `needs a sign-in with acr ${rule.acr}`));
  }
  for (const { rule, at } of rulesOf('modify', ({ modify: layer }) => layer)) {
    say('modify', 'modify', at, terms(rule, 'its arguments or result are rewritten'));
  }
  const deferred = rulesOf('defer', ({ defer: layer }) => layer);
  for (const { rule, at } of deferred) {
    const says =
      'allow' in rule
        ? 'runs without approval'
        : `waits for a person: ${rule.to.join(', ')}, for ${formatDuration(rule.timeout)}`;
    say('defer', 'allow' in rule ? 'allow' : 'defer', at, terms(rule, says));
  }
  decisions.push(...sources.flatMap((source) => boundDecisions(source, name)));
  const acr = steps.find(({ rule }) => isAlways(rule))?.rule.acr;
  const signIn = acr === undefined ? {} : { acr };
  const held = deferred
    .flatMap(({ rule }) => ('to' in rule ? [rule] : []))
    .find(({ shadow }) => !shadow);
  if (held === undefined) return { name, origin, decisions, approvers: null, ...signIn };
  const { to, timeout, quorum, escalate_to: escalateTo } = held;
  const demands = optionWords(optionTerms(held));
  const own = approversIn(held.approvers);
  const approvers = own ?? approversIn(defer.default_approvers);
  const isLong = timeout > answerWindow && to.some((target) => target.startsWith('channel:slack:'));
  const warning = 'a chat is answered after 6 minutes, possibly before this call is decided';
  return {
    name,
    origin,
    decisions,
    approvers,
    timeout: formatDuration(timeout),
    quorum: approvalsIn(quorum),
    ...(demands.length === 0 ? {} : { demands }),
    ...(escalateTo === undefined ? {} : { escalates: escalationWords(escalateTo, timeout) }),
    ...signIn,
    ...(isLong ? { warning } : {}),
  };
}

interface Terms {
  when?: string | undefined;
  shadow: boolean;
}

function isAlways({ when, shadow }: Terms): boolean {
  return when === undefined && !shadow;
}

/** Adds the condition of a rule to the description of its effect. */
function terms({ when }: Terms, effect: string): string {
  return when === undefined ? effect : `${effect} if ${when}`;
}

function approversIn(listed: readonly string[] | undefined): string[] | null {
  const found = (listed ?? [])
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  return found.length === 0 ? null : found;
}

function escalationWords(escalateTo: EscalateTo, timeout: number): { to: string; after: string } {
  if (typeof escalateTo === 'string') {
    return { to: escalateTo, after: formatDuration(timeout * escalatesAfter) };
  }
  const after = escalateTo.map((stage) => formatDuration(stage.after)).join(', ');
  return { to: escalationTargets(escalateTo).join(', '), after };
}
