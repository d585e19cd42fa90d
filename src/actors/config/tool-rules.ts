import { denialName, type RuleLayer, ruleName } from '../../machines/governance/rule-name.ts';
import { matchesName, normalName } from '../tool-name.ts';
import type { Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Security = ServiceConfig['security'];
type DeniedTool = Security['guardrails']['denied_tools'][number];
type DeferRule = Security['defer']['tools'][string][number];

/** A rule of a tool with its place in the configuration. */
export interface PlacedRule<Rule> {
  tool: string;
  rule: Rule;
  path: Path;
  /** The name of the rule in decisions and in the log, such as `defer.tools.pay[1]`. */
  name: string;
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

/** Lists the rules that hold calls, in order. */
export function holdingRules(
  tools: Security['defer']['tools'],
): PlacedRule<Exclude<DeferRule, { allow: true }>>[] {
  return placedRules('defer', tools).flatMap(({ rule, ...place }) =>
    'allow' in rule ? [] : [{ rule, ...place }],
  );
}
