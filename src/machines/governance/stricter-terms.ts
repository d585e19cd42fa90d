import { allOptions, type OptionTerms } from '../domain/rule-options.ts';
import type { WaitTerms } from '../domain/task.ts';
import { largerQuorumOf } from './quorum.ts';
import { readEntry } from './standing.ts';

type Terms = Required<Omit<WaitTerms, keyof OptionTerms>>;

type Join<Value> = (one?: Value, other?: Value) => Value | undefined;

/** For each term of a wait that is no option, the value that is as strict as both. Targets stay those of the first. */
const ownTerms: { [Term in keyof Terms]: Join<Terms[Term]> } = {
  timeout: (one = Infinity, other = Infinity) => Math.min(one, other),
  // The lists are joined together.
  approvers: first,
  alsoBy: () => undefined,
  quorum: (one = 1, other = 1) => Math.max(one, other),
  quorumOf: largerQuorumOf,
  bindApprover: either,
  separation: separatedByBoth,
  distinctCallers: either,
  onReject: (one, other) => (one === 'fail' ? one : other),
  onTimeout: (one, other) => one && other,
  remember: shorterMemory,
  escalateTo: first,
  escalations: first,
};

/** For each term of a wait, the value that is as strict as both. */
const joins = new Map<keyof WaitTerms, Join<unknown>>([
  ...(Object.entries(ownTerms) as [keyof Terms, Join<unknown>][]),
  ...allOptions.map(([term, { stricter: join = first }]) => [term, join as Join<unknown>] as const),
]);

/** Terms of which one value may be stricter than another; lists of approvers are compared as a whole. */
export const comparedTerms: readonly (keyof WaitTerms)[] = [...joins].flatMap(([term, join]) =>
  join === first || term === 'alsoBy' ? [] : [term],
);

/** Returns the value of a term that is as strict as both; `undefined` if the term is absent. */
export function stricterValue(term: keyof WaitTerms, one: WaitTerms, other: WaitTerms): unknown {
  return joins.get(term)?.(one[term], other[term]);
}

/** Returns the terms of a rule or deferral, without its other fields. */
export function termsOf(held: WaitTerms): WaitTerms {
  const own = [...joins.keys()].filter((term) => held[term] !== undefined);
  return Object.fromEntries(own.map((term) => [term, held[term]])) as unknown as WaitTerms;
}

/** Returns a rule or deferral with terms that are as strict as its own and those of another. */
export function stricter<Held extends WaitTerms>(held: Held, other: WaitTerms): Held {
  const joined = { ...held } as unknown as Record<string, unknown>;
  for (const term of joins.keys()) {
    const value = stricterValue(term, held, other);
    if (value === undefined) delete joined[term];
    else joined[term] = value;
  }
  return { ...joined, ...listedByBoth(held, other) } as unknown as Held;
}

type Lists = Pick<WaitTerms, 'approvers' | 'alsoBy'>;

/**
 * Returns the approvers of two rules; a list that is `null` excludes no one. Lists of emails are joined to one; others are
 * kept separately, because the members of a group are known only when they decide.
 */
function listedByBoth(one: Lists, other: Lists): Lists {
  const lists = [one, other]
    .flatMap(({ approvers, alsoBy = [] }) => [
      ...(approvers === null ? [] : [approvers]),
      ...alsoBy,
    ])
    .reduce<string[][]>((joined, list) => {
      const same = joined.findIndex((known) => isEmailList(known) && isEmailList(list));
      if (same >= 0) {
        return joined.map((known, at) =>
          at === same ? known.filter((email) => list.includes(email)) : known,
        );
      }
      return joined.some((known) => isSameList(known, list)) ? joined : [...joined, [...list]];
    }, []);
  const [approvers = null, ...alsoBy] = lists;
  return { approvers, ...(alsoBy.length === 0 ? {} : { alsoBy }) };
}

function isEmailList(list: readonly string[]): boolean {
  return list.every((entry) => readEntry(entry) === null);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry) => other.includes(entry));
}

/** Returns the limits of remembered approvals that two rules have in common; none if one of them allows no such approval. */
export function shorterMemory(
  one: WaitTerms['remember'],
  other: WaitTerms['remember'],
): WaitTerms['remember'] {
  if (one === undefined || other === undefined) return undefined;
  return { time: Math.min(one.time, other.time), uses: Math.min(one.uses, other.uses) };
}

/** A program of either rule may not decide. */
function separatedByBoth(
  one: WaitTerms['separation'],
  other: WaitTerms['separation'],
): WaitTerms['separation'] {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    programs: [...new Set([...one.programs, ...other.programs])],
    deciders: one.deciders.filter((name) => other.deciders.includes(name)),
  };
}

function first<Term>(one?: Term): Term | undefined {
  return one;
}

function either(one = false, other = false): boolean {
  return one || other;
}
