import { allOptions, optionTerms } from '../../machines/domain/rule-options.ts';
import { formatDuration } from '../../machines/duration.ts';
import { normaliseApprovers } from '../../machines/governance/approvers.ts';
import { approvalsIn, type Quorum } from '../../machines/governance/quorum.ts';
import { normalName } from '../tool-name.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import type { ReadPolicy } from './included-policy.ts';
import type { ServiceConfig } from './service-schema.ts';
import { type PlacedRule, placedRules } from './tool-rules.ts';

type Security = ServiceConfig['security'];
type Rule = Security['defer']['tools'][string][number];
type Hold = Exclude<Rule, { allow: true }>;

/**
 * Finds settings of an agent that are looser than an included policy, which would have no effect. Only rules without a
 * condition can be compared here; when the agent runs, the stricter rule always decides.
 */
export function checkLoosening(
  { security: own }: Pick<ServiceConfig, 'security'>,
  isWritten: (path: Path) => boolean,
  { security: included, file, tree }: ReadPolicy,
): Finding[] {
  const placeOf = (path: Path): string => {
    const { line, column } = tree.locate(path);
    return `${file}:${line}:${column}`;
  };
  const ports = { isWritten, placeOf };
  return [
    ...switchedOff(own, included, ports),
    ...otherHierarchy(own, included, ports),
    ...looserHolds(own, included, ports),
    ...lowerLevels(own, included, ports),
  ];
}

interface LooseningPorts {
  isWritten: (path: Path) => boolean;
  placeOf: (path: Path) => string;
}

function switchedOff(own: Security, included: Security, ports: LooseningPorts): Finding[] {
  return (['guardrails', 'step_up', 'modify', 'defer'] as const).flatMap((layer) => {
    const path = ['security', layer, 'enabled'];
    if (own[layer].enabled || !included[layer].enabled || !ports.isWritten(path)) return [];
    const message = `${ports.placeOf(path)} switches this layer on, and an included policy cannot be loosened; remove this key`;
    return [errorAt(path, message)];
  });
}

function otherHierarchy(own: Security, included: Security, { placeOf }: LooseningPorts): Finding[] {
  const path = ['security', 'step_up', 'acr_hierarchy'];
  const areBothOn = own.step_up.enabled && included.step_up.enabled;
  const [one, other] = [own, included].map(({ step_up }) => step_up.acr_hierarchy.join('\n'));
  if (!areBothOn || one === other) return [];
  const message = `${placeOf(path)} has another order of levels, so the rules cannot be compared; write the same order here`;
  return [errorAt(path, message)];
}

function looserHolds(own: Security, included: Security, ports: LooseningPorts): Finding[] {
  if (!own.defer.enabled || !included.defer.enabled) return [];
  const holds = alone<Rule>('defer', included.defer.tools).filter(
    (placed): placed is PlacedRule<Hold> => 'to' in placed.rule,
  );
  return placedRules<Rule>('defer', own.defer.tools).flatMap(({ tool, rule, path }) =>
    holds
      .filter((hold) => normalName(hold.tool) === normalName(tool))
      .flatMap((hold) => looserHold({ rule, path }, hold, ports)),
  );
}

function looserHold(
  { rule, path }: Pick<PlacedRule<Rule>, 'rule' | 'path'>,
  { rule: hold, path: at, tool }: PlacedRule<Hold>,
  { isWritten, placeOf }: LooseningPorts,
): Finding[] {
  if ('allow' in rule) {
    const message = `${placeOf(at)} holds every call of ${tool}, so this rule can release none; remove it`;
    return [errorAt(path, message)];
  }
  const listed = normaliseApprovers(hold.approvers);
  const others = normaliseApprovers(rule.approvers).filter((email) => !listed.includes(email));
  const looser: [key: keyof Hold, isLooser: boolean, demand: string][] = [
    [
      'quorum',
      isLooserQuorum(rule.quorum, hold.quorum),
      `a quorum of ${JSON.stringify(hold.quorum)}`,
    ],
    ['timeout', rule.timeout > hold.timeout, `a timeout of ${formatDuration(hold.timeout)}`],
    ...looserOptions(rule, hold),
    ['approvers', listed.length > 0 && others.length > 0, 'approvers of its own list'],
  ];
  return looser
    .filter(([key, isLooser]) => isLooser && isWritten([...path, key]))
    .map(([key, , demand]) => {
      const place = placeOf([...at, key]);
      const message = `${place} demands ${demand}, and an included policy cannot be loosened; write at least as strict a value`;
      return errorAt([...path, key], message);
    });
}

function looserOptions(
  rule: Hold,
  hold: Hold,
): [key: keyof Hold, isLooser: boolean, demand: string][] {
  const [own, others] = [optionTerms(rule), optionTerms(hold)];
  return allOptions.map(([term, { key, stricter }]) => {
    const both = stricter?.(own[term] as never, others[term] as never);
    const isLooser = stricter !== undefined && both !== own[term];
    return [key, isLooser, `${key}: ${JSON.stringify(others[term] ?? false)}`];
  });
}

/** A quorum by groups is compared by group, because another group is no substitute. */
function isLooserQuorum(own: Quorum, included: Quorum): boolean {
  if (typeof included === 'number') return approvalsIn(own) < included;
  if (typeof own === 'number') return true;
  return Object.entries(included).some(([entry, count]) => (own[entry] ?? 0) < count);
}

function lowerLevels(own: Security, included: Security, { placeOf }: LooseningPorts): Finding[] {
  if (!own.step_up.enabled || !included.step_up.enabled) return [];
  const { acr_hierarchy: order } = included.step_up;
  const levels = alone<{ acr: string }>('step_up', included.step_up.tools);
  return placedRules<{ acr: string }>('step_up', own.step_up.tools).flatMap(
    ({ tool, rule: { acr }, path }) =>
      levels
        .filter((level) => normalName(level.tool) === normalName(tool))
        .filter(({ rule }) =>
          order.length === 0 ? acr !== rule.acr : order.indexOf(acr) < order.indexOf(rule.acr),
        )
        .map(({ rule, path: at }) =>
          errorAt(
            path,
            `${placeOf(at)} requires ${rule.acr}, and an included policy cannot be loosened; require it or a higher level`,
          ),
        ),
  );
}

/** Lists the rules that stand alone for their tool and always apply. */
function alone<Each>(
  layer: 'defer' | 'step_up',
  tools: Readonly<Record<string, readonly Each[]>>,
): PlacedRule<Each>[] {
  return placedRules<Each>(layer, tools).filter(({ tool, rule }) => {
    const { when, shadow } = rule as { when?: string; shadow?: boolean };
    return tools[tool]?.length === 1 && when === undefined && shadow !== true;
  });
}
