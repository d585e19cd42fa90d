import type { RequiredReason, WaitTerms } from '../domain/task.ts';
import { largerQuorumOf } from './quorum.ts';
import { readEntry } from './standing.ts';

type Terms = { [Term in keyof WaitTerms]-?: WaitTerms[Term] | undefined };

/** For each term of a wait, the value that is as strict as both. Targets, and what is shown, stay those of the first. */
const stricterOf: {
  [Term in keyof Terms]: (one: Terms[Term], other: Terms[Term]) => Terms[Term];
} = {
  timeout: (one = Infinity, other = Infinity) => Math.min(one, other),
  // The lists are joined together.
  approvers: first,
  alsoBy: () => undefined,
  quorum: (one = 1, other = 1) => Math.max(one, other),
  quorumOf: largerQuorumOf,
  fourEyes: either,
  bindApprover: either,
  separation: separatedByBoth,
  distinctCallers: either,
  onReject: (one, other) => (one === 'fail' ? one : other),
  onTimeout: (one, other) => one && other,
  requireReason: requiredByEither,
  requirePasskey: (one, other) => one ?? other,
  isEditable: (one, other) => one && other,
  display: first,
  remember: shorterMemory,
  mention: first,
  escalateTo: first,
  escalations: first,
};

const terms = Object.keys(stricterOf) as (keyof WaitTerms)[];

/** Returns the terms of a rule or deferral, without its other fields. */
export function termsOf(held: WaitTerms): WaitTerms {
  const own = terms.filter((term) => held[term] !== undefined);
  return Object.fromEntries(own.map((term) => [term, held[term]])) as unknown as WaitTerms;
}

/** Returns a rule or deferral with terms that are as strict as its own and those of another. */
export function stricter<Held extends WaitTerms>(held: Held, other: WaitTerms): Held {
  const joined = { ...held } as unknown as Record<string, unknown>;
  for (const term of terms) {
    const join = stricterOf[term] as (one: unknown, other: unknown) => unknown;
    const value = join(held[term], other[term]);
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

function requiredByEither(
  one: RequiredReason | undefined,
  other: RequiredReason | undefined,
): RequiredReason | undefined {
  return one === undefined || other === undefined || one === other ? (one ?? other) : 'both';
}

function first<Term>(one: Term): Term {
  return one;
}

function either(one = false, other = false): boolean {
  return one || other;
}
