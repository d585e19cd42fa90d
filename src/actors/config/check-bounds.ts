import { keyPlaceholder } from '../governance/governance.ts';
import { pairs, placeIn } from './check-include-order.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ReadPolicy } from './included-policy.ts';
import type { ServiceConfig } from './service-schema.ts';
import { placedEffects, placedLimits } from './tool-rules.ts';

/** Checks `security.limits` and `security.effects` (docs/contract/governance.md). */
export function checkBounds({ security }: ServiceConfig): Finding[] {
  return [...checkHolds(security), ...checkKeys(security)];
}

/** Checks that calls over a limit, and repeats, can be held. */
function checkHolds(security: ServiceConfig['security']): Finding[] {
  const { enabled } = security.defer;
  if (enabled) return [];
  const switching = ['security', 'defer', 'enabled'];
  const limits = placedLimits(security).filter(({ rule }) => rule.over === 'defer');
  const effects = placedEffects(security).filter(({ rule }) => rule.repeat !== 'deny');
  return [
    ...limits.map(({ path }) =>
      errorAt(
        path,
        'a call over this limit waits for approval, and security.defer is off; set security.defer.enabled: true, or write over: deny',
        switching,
      ),
    ),
    ...effects.map(({ path }) =>
      errorAt(
        path,
        'a repeat waits for approval, and security.defer is off; set security.defer.enabled: true, or write repeat: deny',
        switching,
      ),
    ),
  ];
}

/** Checks that the key of an effect has no other placeholders; they would be the same in every call. */
function checkKeys(security: ServiceConfig['security']): Finding[] {
  return placedEffects(security).flatMap(({ rule: { key }, path }) => {
    const [unknown] = /\{[^{}]*\}?|\}/.exec(key.replaceAll(keyPlaceholder, '')) ?? [];
    if (unknown === undefined) return [];
    const message = `${unknown} is no placeholder; there are {args.NAME} and {tool} alone`;
    return [errorAt([...path, 'key'], message)];
  });
}

type Ordered = Pick<ReadPolicy, 'security' | 'file' | 'tree'>;

/** Finds effects of two policies for the same calls, of which only one could count. */
export function checkSharedEffects(one: Pick<Ordered, 'security'>, other: Ordered): Finding[] {
  const placed = ({ security }: Pick<Ordered, 'security'>) =>
    placedEffects(security).map(({ tools: [tool = ''], ...place }) => ({ tool, ...place }));
  return pairs(placed(one), placed(other)).map(([{ path }, theirs]) =>
    errorAt(
      path,
      `${placeIn(other, theirs)} has an effect for the same calls, and a call has only one; remove one of the two`,
    ),
  );
}
