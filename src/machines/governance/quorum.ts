import type { Approval, WaitTerms } from '../domain/task.ts';
import { effectiveApprovers } from './approvers.ts';
import { fulfils, normaliseEntry } from './standing.ts';

/** How many approvals a call needs: a number, or a number for each entry such as `group:legal`. */
export type Quorum = number | Readonly<Record<string, number>>;

/** Returns the number of approvals that a quorum needs in all. */
export function approvalsIn(quorum: Quorum): number {
  if (typeof quorum === 'number') return quorum;
  return Object.values(quorum).reduce((sum, count) => sum + count, 0);
}

/** Returns who decides under a rule, and how many of them; `fallback` applies to a rule without approvers. */
export function deciders(
  { approvers, quorum }: { approvers: readonly string[]; quorum: Quorum },
  fallback: readonly string[],
): Pick<WaitTerms, 'approvers' | 'quorum' | 'quorumOf'> {
  const total = approvalsIn(quorum);
  if (typeof quorum === 'number') {
    return { approvers: effectiveApprovers(approvers, fallback), quorum: total };
  }
  const quorumOf = Object.fromEntries(
    Object.entries(quorum).map(([entry, count]) => [normaliseEntry(entry) ?? entry, count]),
  );
  const own = approvers.length > 0 ? approvers : Object.keys(quorum);
  return { approvers: effectiveApprovers(own, fallback), quorum: total, quorumOf };
}

/** Joins the demands of two quorums by entry: the larger number counts; undefined for no entry. */
export function largerQuorumOf(
  one: Readonly<Record<string, number>> | undefined,
  other: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const larger = (name: string): number => Math.max(one[name] ?? 0, other[name] ?? 0);
  return Object.fromEntries(names.map((name) => [name, larger(name)] as const));
}

/**
 * Returns true if approvals fill every place of a quorum by entry. Each approval fills one place, even if its person
 * belongs to several groups.
 */
export function fillsQuorum(
  approvals: readonly Approval[],
  quorumOf: Readonly<Record<string, number>>,
): boolean {
  const places = Object.entries(quorumOf).flatMap(([entry, count]) =>
    Array.from({ length: count }, () => entry),
  );
  /** Approval by place. */
  const filled = new Map<number, number>();
  return places.every((_, place) => fill(place, new Set()));

  /** Fills a place, and moves earlier approvals to other places where that makes room. */
  function fill(place: number, tried: Set<number>): boolean {
    const entry = places[place] as string;
    return approvals.some((approval, index) => {
      if (tried.has(index) || !fulfils(countedAs(approval), entry)) return false;
      tried.add(index);
      const other = [...filled].find(([, by]) => by === index)?.[0];
      if (other !== undefined && !fill(other, tried)) return false;
      filled.set(place, index);
      return true;
    });
  }
}

/** Returns the person whose right an approval uses: the approver, or the person for whom the approver decided. */
export function countedAs({ approver, as = [], for: delegator }: Approval) {
  return { email: delegator ?? approver, as };
}
