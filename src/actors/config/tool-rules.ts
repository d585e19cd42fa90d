import {
  boundName,
  denialName,
  type RuleLayer,
  ruleName,
} from '../../machines/governance/rule-name.ts';
import {
  type EffectRule,
  holdOfBound,
  type LimitRule,
  targetOfRepeats,
} from '../governance/governance.ts';
import { matchesName, normalName } from '../tool-name.ts';
import type { Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Security = ServiceConfig['security'];
type DeniedTool = Security['guardrails']['denied_tools'][number];
type DeferRule = Security['defer']['tools'][string][number];
type Hold = Exclude<DeferRule, { allow: true }>;

/** A rule of a tool with its place in the configuration. */
export interface PlacedRule<Rule> {
  tool: string;
  rule: Rule;
  path: Path;
  /** The name of the rule in decisions and in the log, such as `defer.tools.pay[1]`. */
  name: string;
}

/** A limit or an effect, with its place in the configuration. */
export interface PlacedBound<Rule> extends Omit<PlacedRule<Rule>, 'tool'> {
  /** The names and patterns of the tools whose calls count. */
  tools: readonly string[];
}

/** Lists the rules of tools in a layer, in order. A single rule has no index. */
export function placedRules<Rule>(
  layer: RuleLayer,
  tools: Readonly<Record<string, readonly Rule[]>>,
): PlacedRule<Rule>[] {
  return Object.entries(tools).flatMap(([tool, rules]) =>
    rules.map((rule, index) => {
      const isAlone = rules.length === 1;
      const path = ['security', layer, 'tools', tool];
      return {
        tool,
        rule,
        path: isAlone ? path : [...path, index],
        name: ruleName(layer, tool, { index, isAlone }),
      };
    }),
  );
}

/**
 * Lists the rules of a layer that count for a tool: those of its own name, and then those of the patterns that match it
 * (docs/contract/governance.md).
 */
export function rulesOfTool<Rule>(
  layer: RuleLayer,
  { enabled, tools }: { enabled: boolean; tools: Readonly<Record<string, readonly Rule[]>> },
  name: string,
): PlacedRule<Rule>[] {
  const isOwn = ({ tool }: PlacedRule<Rule>) => normalName(tool) === normalName(name);
  const found = placedRules(layer, enabled ? tools : {}).filter(({ tool }) =>
    matchesName(tool, name),
  );
  return [...found.filter(isOwn), ...found.filter((rule) => !isOwn(rule))];
}

/** Lists the rules that deny calls of a tool, in order. */
export function denialsOfTool(
  guardrails: Security['guardrails'],
  name: string,
): PlacedRule<DeniedTool>[] {
  const denied = guardrails.enabled ? placedDenials(guardrails) : [];
  return denied.filter(({ tool }) => matchesName(tool, name));
}

/** Returns the names of all rules that count for a tool, in the order of the layers. */
export function ruleNamesOf(security: Security, tool: string): string[] {
  return [
    ...denialsOfTool(security.guardrails, tool),
    ...rulesOfTool<unknown>('step_up', security.step_up, tool),
    ...rulesOfTool<unknown>('modify', security.modify, tool),
    ...rulesOfTool<unknown>('defer', security.defer, tool),
    ...[...placedLimits(security), ...placedEffects(security)].filter(({ tools }) =>
      tools.some((pattern) => matchesName(pattern, tool)),
    ),
  ].map(({ name }) => name);
}

/** Returns the rules of the included policies and of the agent, each with the beginning of their names. */
export function sourcesOfRules({
  security,
  included = [],
}: Pick<ServiceConfig, 'security' | 'included'>): { from: string; security: Security }[] {
  return [
    ...included.map((one) => ({ from: `${one.file}#`, security: one.security })),
    { from: '', security },
  ];
}

/** Lists the rules of denied tools, in order. */
export function placedDenials({
  denied_tools: denied,
}: Pick<Security['guardrails'], 'denied_tools'>): PlacedRule<DeniedTool>[] {
  return denied.map((rule, index) => ({
    ...{ tool: rule.tool, rule, name: denialName(index) },
    path: ['security', 'guardrails', 'denied_tools', index],
  }));
}

/** Lists the limits in order, each with its name in decisions and in the log. */
export function placedLimits({ limits }: Pick<Security, 'limits'>): PlacedBound<LimitRule>[] {
  return Object.entries(limits).map(([name, rule]) => ({
    ...{ rule, name: boundName('limits', name), path: ['security', 'limits', name] },
    tools: rule.tools,
  }));
}

/** Lists the effects in order, each with its name in decisions and in the log. */
export function placedEffects({ effects }: Pick<Security, 'effects'>): PlacedBound<EffectRule>[] {
  return Object.entries(effects).map(([tool, rule]) => ({
    ...{ rule, name: boundName('effects', tool), path: ['security', 'effects', tool] },
    tools: [tool],
  }));
}

/** Lists the rules that may hold calls: those of tools, while the layer is on, and those of limits and effects. */
export function askingRules(security: Security): PlacedRule<Hold>[] {
  const { defer } = security;
  const { default_timeout: timeout } = defer;
  const limits = placedLimits(security).flatMap(({ rule, name, path }) => {
    const { over, to = [] } = rule;
    return over === 'deny'
      ? []
      : [{ tool: name, name, path, rule: holdOfBound(rule, { to, timeout }) }];
  });
  const effects = placedEffects(security)
    .filter(({ rule }) => rule.repeat !== 'deny')
    .map(({ rule, name, path, tools: [tool = ''] }) => ({
      ...{ tool: name, name, path, rule: holdOfRepeats(rule, tool, defer) },
    }));
  return [...holdingRules(defer.enabled ? defer.tools : {}), ...limits, ...effects];
}

/** A repeat without its own target is held as the rule of its tool says. */
function holdOfRepeats(rule: EffectRule, tool: string, defer: Security['defer']): Hold {
  const found = rulesOfTool<DeferRule>('defer', defer, tool).map((placed) => placed.rule);
  const held = rule.to === undefined ? found.find((one) => 'to' in one) : undefined;
  const { to = held?.to ?? [targetOfRepeats], approvers } = rule;
  const hold = holdOfBound(rule, { to, timeout: held?.timeout ?? defer.default_timeout });
  return { ...hold, approvers: approvers.length === 0 ? (held?.approvers ?? []) : approvers };
}

/** Returns the targets and approvers of all rules that may hold calls. */
export function askedBy(security: Security): {
  default_approvers: readonly string[];
  tools: Record<string, Hold[]>;
} {
  const { default_approvers: approvers } = security.defer;
  const rules = askingRules(security).map(({ rule }) => rule);
  return { default_approvers: rules.length === 0 ? [] : approvers, tools: { '*': rules } };
}

/** Lists the rules that hold calls, in order. */
export function holdingRules(tools: Security['defer']['tools']): PlacedRule<Hold>[] {
  return placedRules('defer', tools).flatMap(({ rule, ...place }) =>
    'allow' in rule ? [] : [{ rule, ...place }],
  );
}
