import {
  type ConfigProblem,
  type PlacedPolicy,
  placedDenials,
  placedRules,
  type ServiceConfig,
} from '../../actors/config/config.ts';
import {
  ConditionCompiler,
  callerReads,
  comparedPaths,
} from '../../actors/governance/governance.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { ToolMap } from '../../actors/tool-name.ts';

/**
 * Finds conditions of rules that cannot be read or do not fit the schema of their tool. The schema of an MCP server's
 * tool is not known here, so only the syntax is checked.
 */
export function conditionProblems(
  { config, problemAt }: PlacedPolicy,
  tools: ReadonlyMap<string, Tool>,
): ConfigProblem[] {
  const known = new ToolMap([...tools]);
  const compiler = new ConditionCompiler({
    environment: unsetVariables(config.security.policy.environment),
    limits: limitNames(config.security),
  });
  return conditionsIn(config.security).flatMap(({ tool, when, path }) => {
    const compiled = compiler.compile(when, known.get(tool)?.parameters ?? {});
    if ('holds' in compiled) return [];
    const { message, at } = compiled;
    return [problemAt([...path], `${message} (${placeIn(when, at)} of the expression)`)];
  });
}

/** Returns the limits that conditions may read; the names in the ledger do not matter. */
export function limitNames({ limits }: ServiceConfig['security']): ReadonlyMap<string, string> {
  return new Map(Object.keys(limits).map((name) => [name, name]));
}

/** Returns variables whose values do not matter. */
export function unsetVariables(names: readonly string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** Finds conditions that compare the beginning of a path with a string. */
export function pathWarnings({ config, problemAt }: PlacedPolicy): ConfigProblem[] {
  return conditionsIn(config.security).flatMap(({ when, path }) =>
    comparedPaths(when).map(({ argument, base, at }) =>
      problemAt(
        [...path],
        `${argument}.startsWith("${base}") also holds for ${base.replace(/\/$/, '')}/../other; write path.under(${argument}, "${base}") (${placeIn(when, at)} of the expression)`,
      ),
    ),
  );
}

/** Finds conditions on the groups of callers that no provider of the agent has. */
export function groupWarnings({ config, problemAt }: PlacedPolicy): ConfigProblem[] {
  if (config.auth.dashboard_issuer !== undefined) return [];
  if (config.auth.providers.some((one) => 'groups_claim' in one && one.groups_claim !== undefined))
    return [];
  return conditionsIn(config.security)
    .filter(({ when }) => callerReads([when]).groups)
    .map(({ path }) => problemAt([...path], groupless));
}

const groupless =
  'caller.groups is absent for every caller, because no provider has groups_claim; add it to one in auth.providers';

/** A condition with its tool and its path in the configuration. */
interface PlacedCondition {
  tool: string;
  when: string;
  path: readonly (string | number)[];
}

function conditionsIn({ guardrails, ...layers }: ServiceConfig['security']): PlacedCondition[] {
  const ruled = (['step_up', 'modify', 'defer'] as const).flatMap((layer) =>
    placedRules<{ when?: string | undefined }>(layer, layers[layer].tools),
  );
  return [...placedDenials(guardrails), ...ruled].flatMap(({ tool, rule: { when }, path }) =>
    when === undefined ? [] : [{ tool, when, path: [...path, 'when'] }],
  );
}

/** Returns the place of a position in an expression. */
export function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const column = `column ${(lines.at(-1)?.length ?? 0) + 1}`;
  return lines.length === 1 ? column : `line ${lines.length}, ${column}`;
}
