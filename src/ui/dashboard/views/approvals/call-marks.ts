import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import {
  firstRequester,
  limitName,
  usedWords,
} from '../../../../machines/governance/limit-words.ts';
import { momentWords } from '../../components/time-words.ts';

/** Describes in a list the facts of a call that an approver must see: the limits that it is over, and the earlier call that it repeats. */
export function markWords(
  { limits = [], first, repeats }: Pick<DeferralJson, 'limits' | 'first' | 'repeats'>,
  now: number,
): string[] {
  const over = limits
    .filter((limit) => limit.over)
    .map(
      (limit) =>
        `over ${limitName({ name: limit.name })}: ${usedWords({ ...limit, period: null })}`,
    );
  return [...over, ...repeatMarks({ first, repeats }, now)];
}

function repeatMarks(
  { first, repeats }: { [Key in 'first' | 'repeats']: DeferralJson[Key] | undefined },
  now: number,
): string[] {
  if (first !== undefined) {
    const { key, requested_by: by, at } = first;
    return [`same as ${key} of ${firstRequester(by)}, ${momentWords(at, now)}`];
  }
  return repeats === undefined ? [] : [`an equal call ran, ${momentWords(repeats.at, now)}`];
}
