import { closest } from 'fastest-levenshtein';
import {
  type ConfigProblem,
  type PlacedPolicy,
  placedDenials,
  placedEffects,
  placedLimits,
  placedRules,
  ruleNamesOf,
  type ServiceConfig,
  sourcesOfRules,
} from '../../actors/config/config.ts';
import { matchesName, matchesPrefix, normalName, ToolMap } from '../../actors/tool-name.ts';
import {
  elicitationName,
  mcpToolName,
  namedMcpTools,
  type RuledMcpTool,
  type Skill,
  serverOfTool,
  serverPrefixOf,
} from '../../actors/tools/tools.ts';
import type { McpToolsSeen } from '../start/mcp-tools-seen.ts';

/** A rule that names a tool, and the consequence if the tool does not exist. */
interface RuleOfTool {
  tool: string;
  path: (string | number)[];
  effect: string;
  /** The setting that marks the rule's tool as optional. */
  remedy: string;
  /** True if the rule marks its tool as optional. */
  isOptional: boolean;
  isDenial?: boolean;
}

/** Finds rules without a tool in a configuration and its included policies. */
export function rulesWithoutTools(
  policies: readonly PlacedPolicy[],
  ...given: [
    tools: readonly string[],
    seen?: McpToolsSeen,
    options?: Parameters<typeof rulesWithoutTool>[3],
  ]
): ReturnType<typeof rulesWithoutTool> {
  const found = policies.map((policy) => rulesWithoutTool(policy, ...given));
  return {
    problems: found.flatMap(({ problems }) => problems),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

/**
 * Finds rules for tools that the agent does not have, most likely misspelled names. A rule that would let calls pass
 * unheld blocks the start unless it marks the tool as optional (docs/contract/configuration.md). A denial of a missing
 * tool only produces a warning. For a running agent, a rule for a tool that its MCP server does not offer is a problem
 * too: the tools of the server have been admitted under the rules before.
 */
export function rulesWithoutTool(
  { config, problemAt }: PlacedPolicy,
  tools: readonly string[],
  seen: McpToolsSeen = new Map(),
  { isRunning = false }: { isRunning?: boolean } = {},
): { problems: ConfigProblem[]; warnings: ConfigProblem[] } {
  const known = new Set(tools.map(normalName));
  const isPatterned = (tool: string) =>
    config.gate !== undefined && tools.some((entry) => matchesEither(entry, tool));
  const nearest = (tool: string) =>
    tools.length === 0 ? 'it has none at all' : `the nearest is ${closest(tool, [...tools])}`;
  const { servers } = config.mcp;
  const isOfServer = ({ tool }: RuleOfTool) => serverPrefixOf(tool, servers) !== undefined;
  const unknown = (rules: readonly RuleOfTool[]) =>
    rules.filter(({ tool }) => !known.has(normalName(tool)) && !isPatterned(tool));
  const isMatched = ({ tool }: RuleOfTool) =>
    tool.includes('*') &&
    (tools.some((name) => matchesName(tool, name)) ||
      servers.some(({ name }) => matchesPrefix(tool, mcpToolName(name, ''))));
  const bounds = boundRules(config).filter((rule) => !isMatched(rule));
  const denied = denials(config).filter(({ isOptional }) => !isOptional);
  const ofServers = [
    ...layerRules(config, true),
    ...bounds,
    ...credentialRules(config, true),
    ...denied,
  ]
    .filter(isOfServer)
    .flatMap((rule) => ofServer(rule, config, seen));
  const misplaced = ofServers.filter(({ isOptional }) => isRunning && !isOptional);
  const told = (rules: readonly RuleOfTool[]) =>
    unknown(rules)
      .filter((rule) => !isOfServer(rule))
      .map(({ tool, path, effect, remedy }) => {
        const message = `the agent has no tool ${tool}, so ${effect}; ${nearest(tool)}`;
        return problemAt(path, `${message}; write ${remedy} for a tool that comes later`);
      });
  return {
    problems: [
      ...told([
        ...layerRules(config),
        ...credentialRules(config),
        ...bounds.filter(({ isOptional }) => !isOptional),
      ]),
      ...misplaced.map(({ path, message }) => problemAt(path, message)),
    ],
    warnings: [
      ...told(denied),
      ...ofServers
        .filter((one) => !misplaced.includes(one))
        .map(({ path, message }) => problemAt(path, message)),
    ],
  };
}

/** Returns whether an entry of a gate covers the tools of a rule, or the rule covers the entry. */
function matchesEither(entry: string, rule: string): boolean {
  return matchesName(entry, rule) || matchesName(rule, entry);
}

/** Returns the rules under `security` that name tools of MCP servers, each with its location. */
export function rulesOfServers(config: ServiceConfig): RuledMcpTool[] {
  // A denial of a tool that the server has dropped is harmless.
  const securities = [config.security, ...(config.included ?? []).map((one) => one.security)];
  return securities
    .map((security) => ({ ...config, security }))
    .flatMap((one) => [
      ...layerRules(one, true),
      ...denials(one).map((rule) => ({ ...rule, isOptional: true })),
    ])
    .filter(({ tool }) => serverPrefixOf(tool, config.mcp.servers) !== undefined)
    .map(({ tool, path, isOptional }) => ({ tool, rule: path.join('.'), isOptional }));
}

/** Returns an agent's tools whose calls are held, in order (docs/contract/governance.md). */
export function heldTools(
  { security, included = [] }: Pick<ServiceConfig, 'security' | 'included'>,
  tools: Iterable<string>,
): string[] {
  const layers = [security, ...included.map((one) => one.security)];
  const held = new ToolMap(
    layers.flatMap(({ policy, defer: { enabled, tools: rules } }) =>
      Object.entries(enabled && policy.mode !== 'shadow' ? rules : {}).filter(([, listed]) =>
        listed.some((rule) => 'to' in rule && !rule.shadow),
      ),
    ),
  );
  return [...tools].filter((tool) => held.has(tool)).toSorted();
}

/**
 * Returns the names of the rules that count for each tool, and for each name that only a rule has, such as one that the
 * pattern of a gate covers. Tools without rules are omitted.
 */
export function rulesByName(
  config: Pick<ServiceConfig, 'security' | 'included'>,
  tools: readonly string[],
): [name: string, rules: string[]][] {
  const layers = sourcesOfRules(config);
  const ruled = layers.flatMap(({ security: { step_up, modify, defer, guardrails } }) => [
    ...[step_up, modify, defer].flatMap((layer) => Object.keys(layer.enabled ? layer.tools : {})),
    ...(guardrails.enabled ? placedDenials(guardrails) : []).map(({ tool }) => tool),
  ]);
  const names = new Map([...tools, ...ruled].toReversed().map((name) => [normalName(name), name]));
  return [...names.values()].toSorted().flatMap((name): [string, string[]][] => {
    const found = layers.flatMap(({ from, security: one }) =>
      ruleNamesOf(one, name).map((rule) => from + rule),
    );
    return found.length === 0 ? [] : [[name, found]];
  });
}

type Shadowed = { shadow: boolean };

/** Returns the names of the rules that decide nothing and are only reported, in order. */
export function shadowRules(config: Pick<ServiceConfig, 'security' | 'included'>): string[] {
  return sourcesOfRules(config).flatMap(({ from, security }) => {
    const { guardrails, step_up, modify, defer, policy } = security;
    const ruled = [
      ...(guardrails.enabled ? placedDenials(guardrails) : []),
      ...placedRules<Shadowed>('step_up', step_up.enabled ? step_up.tools : {}),
      ...placedRules<Shadowed>('modify', modify.enabled ? modify.tools : {}),
      ...placedRules<Shadowed>('defer', defer.enabled ? defer.tools : {}),
      ...placedLimits(security),
      ...placedEffects(security),
    ];
    return ruled.flatMap(({ name, rule }) =>
      policy.mode === 'shadow' || rule.shadow ? [from + name] : [],
    );
  });
}

/** Returns the names of all limits; those of an included policy begin with its file. */
export function limitNamesOf(config: Pick<ServiceConfig, 'security' | 'included'>): string[] {
  return sourcesOfRules(config).flatMap(({ from, security }) =>
    Object.keys(security.limits).map((name) => from + name),
  );
}

/** Lists tools that their skill recommends to hold but no rule holds, each with the location of its section. */
export function unheldTools(
  config: Pick<ServiceConfig, 'security' | 'included'>,
  skills: readonly Pick<Skill, 'id' | 'held' | 'tools'>[],
): ConfigProblem[] {
  const { security } = config;
  const denied = new Set(denials({ security }).map(({ tool }) => normalName(tool)));
  return skills.flatMap(({ id, held = [], tools }) => {
    const wanted = new Set(held.map(normalName));
    const loose = tools.filter(
      ({ name }) =>
        wanted.has(normalName(name)) &&
        !denied.has(normalName(name)) &&
        heldTools(config, [name]).length === 0,
    );
    return loose.map(({ name, file, line }) => {
      const message = `the skill ${id} lists ${name} as held, and no rule holds it; add ${name} under security.defer.tools with security.defer.enabled: true, or remove it from held in the skill`;
      return { message, file, line, column: 1, path: '' };
    });
  });
}

/**
 * Returns the problems of a rule for an MCP server's tool; empty if the rule matches the tools that the server offered
 * last.
 */
function ofServer(
  { tool, path, effect, isOptional, isDenial = false }: RuleOfTool,
  { mcp }: Pick<ServiceConfig, 'mcp'>,
  seen: McpToolsSeen,
): (Pick<RuleOfTool, 'path' | 'isOptional'> & { message: string })[] {
  const server = serverPrefixOf(tool, mcp.servers);
  if (server === undefined) return [];
  const { name } = server;
  if (normalName(tool) === normalName(elicitationName(name))) return [];
  // A rule for a tool that the settings exclude has no effect.
  if (serverOfTool(tool, mcp.servers) === undefined) return [];
  const allowed = namedMcpTools([server]).map(normalName);
  const offered = seen.get(name) ?? null;
  if (offered === null) {
    if (allowed.includes(normalName(tool))) return [];
    const message = `the tools of the MCP server ${name} are not known yet, so the rule for ${tool} is checked when the agent has reached it`;
    return [{ path, message, isOptional: true }];
  }
  if (offered.some((known) => normalName(known) === normalName(tool))) return [];
  const near =
    offered.length === 0
      ? 'it offered none at all'
      : `the nearest is ${closest(tool, [...offered])}`;
  const message = `the MCP server ${name} offered no tool ${tool} when the agent reached it last, so ${effect}; ${near}`;
  // A denial is harmless without its tool.
  return [{ path, message, isOptional: isOptional || isDenial }];
}

const unheld = 'this rule has no effect';

/** `withOptional` includes rules whose tools are optional. */
function layerRules({ security }: ServiceConfig, withOptional = false): RuleOfTool[] {
  return (['step_up', 'modify', 'defer'] as const).flatMap((layer) => {
    const rules = placedRules<{ optional: boolean }>(layer, security[layer].tools);
    const remedy = layer === 'step_up' ? '{acr: <acr>, optional: true}' : 'optional: true';
    return rules
      .filter(({ rule }) => security[layer].enabled && (withOptional || !rule.optional))
      .map(({ tool, rule, path }) => ({
        tool,
        isOptional: rule.optional,
        path: [...path],
        effect: unheld,
        remedy,
      }));
  });
}

/** Returns the tools and patterns that limits and effects name. */
function boundRules({ security }: ServiceConfig): RuleOfTool[] {
  const remedy = 'optional: true';
  const limits = placedLimits(security).flatMap(({ rule, path }) =>
    rule.tools.map((tool, index) => ({
      ...{ tool, path: [...path, 'tools', index], isOptional: rule.optional },
      effect: 'this limit counts none of its calls',
      remedy,
    })),
  );
  const effects = placedEffects(security).flatMap(({ rule, path, tools: [tool = ''] }) => {
    const { reconcile, optional: isOptional } = rule;
    const asked = 'nobody learns whether a call ran';
    return [
      { tool, path: [...path], isOptional, effect: unheld, remedy },
      ...(reconcile === undefined
        ? []
        : [{ tool: reconcile, path: [...path, 'reconcile'], isOptional, effect: asked, remedy }]),
    ];
  });
  return [...limits, ...effects];
}

function credentialRules({ credentials }: ServiceConfig, withOptional = false): RuleOfTool[] {
  return credentials.flatMap(({ tool, optional }, index) => {
    const path = ['credentials', index, 'tool'];
    const effect = 'it is never used';
    return optional && !withOptional
      ? []
      : [{ tool, path, effect, remedy: 'optional: true', isOptional: optional }];
  });
}

function denials({ security: { guardrails } }: Pick<ServiceConfig, 'security'>): RuleOfTool[] {
  return (guardrails.enabled ? placedDenials(guardrails) : []).map(({ tool, rule, path }) => ({
    tool,
    path: [...path],
    effect: unheld,
    remedy: `{tool: ${tool}, optional: true}`,
    isOptional: rule.optional,
    isDenial: true,
  }));
}
