import {
  askingRules,
  placedEffects,
  placedLimits,
  type ServiceConfig,
} from '../../actors/config/config.ts';
import type { EffectRule, LimitRule } from '../../actors/governance/governance.ts';
import { matchesName, ToolMap } from '../../actors/tool-name.ts';
import type { ToolPolicyJson } from '../../http/wire/dashboard/policy-json.ts';
import { decimalWords } from '../../machines/decimal-words.ts';
import { formatDuration } from '../../machines/duration.ts';
import { durationWords, perWords } from '../../machines/governance/limit-words.ts';

type Security = ServiceConfig['security'];
type Decision = ToolPolicyJson['decisions'][number];

/** Describes the limits and the effect of a tool under the rules of one file, whose names begin with `from`. */
export function boundDecisions(
  { from, security }: { from: string; security: Security },
  tool: string,
): Decision[] {
  const asks = new Map(askingRules(security).map(({ name, rule }) => [name, askedWords(rule)]));
  const limits = placedLimits(security).filter(({ tools }) =>
    tools.some((pattern) => matchesName(pattern, tool)),
  );
  const effects = placedEffects(security).map((placed) => [placed.tools[0] ?? '', placed] as const);
  const effect = new ToolMap(effects).get(tool);
  return [
    ...limits.map(({ name, rule, path }) => ({
      ...{ layer: 'limits', decision: 'limit', rule: from + name },
      says: `${limitTerms(rule)}; a call over it ${asks.get(name) ?? 'is denied'}`,
      limit: from + String(path.at(-1)),
    })),
    ...(effect === undefined
      ? []
      : [
          {
            ...{ layer: 'effects', decision: 'effect', rule: from + effect.name },
            says: `${effectTerms(effect.rule)}; ${repeatTerms(effect.rule, asks.get(effect.name))}`,
          },
        ]),
  ];
}

function limitTerms({ amount, max, per, by, when }: LimitRule): string {
  const counted = amount === undefined ? '' : ` of ${amount}`;
  const period = typeof per === 'number' ? { rolling: formatDuration(per) } : per;
  const apart = by.length === 0 ? '' : ` for each ${by.join(' and ')}`;
  const condition = when === undefined ? '' : ` if ${when}`;
  const unit = amount === undefined ? ' calls' : '';
  return `at most ${decimalWords(max)}${unit}${counted} ${perWords(period)}${apart}${condition}`;
}

function effectTerms({ key, within }: EffectRule): string {
  const time = within === undefined ? '' : ` within ${durationWords(formatDuration(within))}`;
  return `one call with the same ${key}${time}`;
}

function repeatTerms({ repeat }: EffectRule, asks = 'is denied'): string {
  const joins = 'gets the first result if its arguments are equal, else';
  return repeat === 'join' ? `a repeat ${joins} ${asks}` : `a repeat ${asks}`;
}

/** Describes how a call waits under a rule of a limit or an effect. */
function askedWords({
  to,
  timeout,
  approvers,
}: ReturnType<typeof askingRules>[number]['rule']): string {
  const deciders = approvers.length === 0 ? '' : `, decided by ${approvers.join(', ')}`;
  return `waits for a person: ${to.join(', ')}, for ${formatDuration(timeout)}${deciders}`;
}
