import {
  type ConfigProblem,
  type PlacedPolicy,
  placedEffects,
  placedLimits,
} from '../../actors/config/config.ts';
import { listsArguments } from '../../actors/governance/governance.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { matchesName } from '../../actors/tool-name.ts';

/**
 * Finds rules with `allow: true` for tools whose schema names no arguments, so that a program may obey an argument that no
 * rule looks at. Returns one warning that lists these tools. Tools of MCP servers are not known here.
 */
export function openAllowances(
  { config: { security }, problemAt }: PlacedPolicy,
  tools: ReadonlyMap<string, Tool>,
): ConfigProblem[] {
  const { enabled, tools: ruled } = security.defer;
  const open = Object.entries(enabled ? ruled : {}).flatMap(([name, rules]) => {
    const isAllowing = rules.some((rule) => 'allow' in rule && !rule.shadow);
    const parameters = isAllowing ? tools.get(name)?.parameters : undefined;
    return parameters === undefined || listsArguments(parameters) ? [] : [name];
  });
  if (open.length === 0) return [];
  const message = `allow: true applies to these tools with any argument, because their schema names none: ${open.join(', ')}; give each a schema with properties`;
  return [problemAt(['security', 'defer', 'tools'], message)];
}

/**
 * Finds the tools of a gate whose calls run without a person, because no rule names them. Returns one warning that lists
 * them, apart from those that a limit or an effect may stop.
 */
export function unaskedTools({
  config: { gate, security, included = [] },
  problemAt,
}: PlacedPolicy): ConfigProblem[] {
  const ruled = [security, ...included.map((policy) => policy.security)].flatMap(
    ({ defer, guardrails }) => [
      ...Object.entries(defer.enabled ? defer.tools : {}).flatMap(([name, rules]) =>
        rules.some(({ shadow }) => !shadow) ? [name] : [],
      ),
      ...(guardrails.enabled ? guardrails.denied_tools : []).flatMap((rule) =>
        typeof rule === 'string'
          ? [rule]
          : rule.when === undefined && !rule.shadow
            ? [rule.tool]
            : [],
      ),
    ],
  );
  const unasked = Object.keys(gate?.tools ?? {}).filter(
    (tool) => !ruled.some((rule) => matchesName(rule, tool)),
  );
  if (unasked.length === 0) return [];
  const bounded = [security, ...included.map((policy) => policy.security)].flatMap((policy) => [
    ...placedLimits(policy),
    ...placedEffects(policy),
  ]);
  const isBounded = (tool: string) =>
    bounded.some(
      ({ rule, tools }) => !rule.shadow && tools.some((pattern) => matchesName(pattern, tool)),
    );
  const { free = [], stopped = [] } = Object.groupBy(unasked, (tool) =>
    isBounded(tool) ? 'stopped' : 'free',
  );
  const runs = [
    ...(free.length === 0 ? [] : [`these run without a person: ${free.join(', ')}`]),
    ...(stopped.length === 0
      ? []
      : [
          `these run without a person until a limit or an effect stops them: ${stopped.join(', ')}`,
        ]),
  ];
  const message = `${runs.join('; ')}; add a rule for each to security.defer.tools, or allow: true`;
  return [problemAt(['gate', 'tools'], message)];
}
