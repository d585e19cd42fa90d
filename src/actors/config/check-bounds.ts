import { keyPlaceholder } from '../governance/governance.ts';
import { pairs, placeIn } from './check-include-order.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ReadPolicy } from './included-policy.ts';
import type { ServiceConfig } from './service-schema.ts';
import { placedEffects } from './tool-rules.ts';

/** Checks that the key of an effect has no other placeholders; they would be the same in every call. */
export function checkEffectKeys({ security }: ServiceConfig): Finding[] {
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
