import {
  type ConfigProblem,
  type PlacedPolicy,
  placedEffects,
  placedLimits,
} from '../../actors/config/config.ts';
import {
  ConditionCompiler,
  type EffectRule,
  type LimitRule,
  namesArgument,
  pathsOfKey,
} from '../../actors/governance/governance.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { matchesName } from '../../actors/tool-name.ts';
import { placeIn, unsetVariables } from './rule-conditions.ts';

type Tools = ReadonlyMap<string, Tool>;
type Path = readonly (string | number)[];

/** A fault of a limit or an effect, below its path. */
interface Fault {
  at: Path;
  message: string;
}

/** Values of `by` that are no expressions. */
const known: ReadonlySet<string> = new Set(['caller', 'org', 'session', 'agent', 'tool']);

/**
 * Finds limits and effects whose expressions or arguments do not fit the schemas of their tools. The schema of an MCP
 * server's tool is not known here, so only the syntax is checked.
 */
export function boundProblems({ config, problemAt }: PlacedPolicy, tools: Tools): ConfigProblem[] {
  const { security } = config;
  const compiler = new ConditionCompiler({
    environment: unsetVariables(security.policy.environment),
  });
  return [
    ...placedLimits(security).flatMap(({ rule, path, tools: patterns }) =>
      faultsOfLimit(rule, matching(patterns, tools), compiler).map(({ at, message }) =>
        problemAt([...path, ...at], message),
      ),
    ),
    ...placedEffects(security).flatMap(({ rule, path, tools: patterns }) =>
      faultsOfEffect(rule, matching(patterns, tools)).map(({ at, message }) =>
        problemAt([...path, ...at], message),
      ),
    ),
  ];
}

function matching(patterns: readonly string[], tools: Tools): Tool[] {
  return [...tools.values()].filter(({ name }) =>
    patterns.some((pattern) => matchesName(pattern, name)),
  );
}

function faultsOfLimit(
  { when, by, amount }: LimitRule,
  tools: readonly Tool[],
  compiler: ConditionCompiler,
): Fault[] {
  const schemas = tools.length === 0 ? [{}] : tools.map(({ parameters }) => parameters);
  const expression = (text: string, at: Path, compile: 'compile' | 'compileText'): Fault[] => {
    const faults = schemas.flatMap((schema) => {
      const compiled = compiler[compile](text, schema);
      return 'message' in compiled ? [compiled] : [];
    });
    return faults.slice(0, 1).map((fault) => ({
      at,
      message: `${fault.message} (${placeIn(text, fault.at)} of the expression)`,
    }));
  };
  return [
    ...(when === undefined ? [] : expression(when, ['when'], 'compile')),
    ...by.flatMap((each, index) =>
      known.has(each) ? [] : expression(each, ['by', index], 'compileText'),
    ),
    ...(amount === undefined ? [] : lackingArgument(amount, tools, ['amount'])),
  ];
}

function faultsOfEffect({ key }: EffectRule, tools: readonly Tool[]): Fault[] {
  return pathsOfKey(key).flatMap((path) => lackingArgument(path, tools, ['key']));
}

/** Returns the fault of an argument that the schema of a tool lacks. */
function lackingArgument(path: string, tools: readonly Tool[], at: Path): Fault[] {
  const names = path.split('.').slice(1);
  const tool = tools.find(({ parameters }) => !namesArgument(parameters, names));
  if (tool === undefined) return [];
  return [
    { at, message: `${tool.name} has no argument ${path.slice('args.'.length)}; correct the name` },
  ];
}

/** Finds rules with `allow: true` that bound calls by `history`, which does not count calls in flight. */
export function historyBounds({ config: { security }, problemAt }: PlacedPolicy): ConfigProblem[] {
  const { enabled, tools } = security.defer;
  return Object.entries(enabled ? tools : {}).flatMap(([tool, rules]) =>
    rules.flatMap((rule, index) => {
      if (!('allow' in rule) || !/\bhistory\s*\.\s*(?:count|sum)\b/.test(rule.when ?? ''))
        return [];
      const path = [
        'security',
        'defer',
        'tools',
        tool,
        ...(rules.length === 1 ? [] : [index]),
        'when',
      ];
      return [problemAt(path, inFlight)];
    }),
  );
}

const inFlight =
  'history does not count calls that run at the same moment, so several of them can pass together; bound them by security.limits, and read limits.NAME.left here';
