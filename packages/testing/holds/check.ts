import type { Feature, HoldsAdapter } from './adapter.ts';
import type { HoldsUnderTest } from './holds-under-test.ts';

/** The groups of the checks. */
export const holdGroups = [
  'idempotency',
  'binding',
  'single decision',
  'races',
  'restart',
  'kill',
  'expiry',
  'fail closed',
  'people',
  'outcome',
  'limits',
  'effects',
] as const;

export type HoldGroup = (typeof holdGroups)[number];

/** What a check needs from an implementation: a feature, a method, `expiresWithin`, or one of `take` and `runs`. */
export type Capability =
  | Feature
  | 'waiting'
  | 'decide'
  | 'cancel'
  | 'take'
  | 'report'
  | 'stop'
  | 'kill'
  | 'expiresWithin'
  | 'take or runs';

/** A promise of holds with the function that checks it. */
export interface HoldCheck {
  /** Stable name, such as `races/two-approvals`. */
  id: string;
  group: HoldGroup;
  /** What is promised. */
  title: string;
  needs: readonly Capability[];
  /** Rejects if the implementation breaks the promise. */
  run(holds: HoldsUnderTest): Promise<void>;
}

/** The checks of a group as a table: the name of each, its title, what it needs, and its function. */
export function checksOf(
  group: HoldGroup,
  rows: Record<
    string,
    [title: string, needs: readonly Capability[], run: (holds: HoldsUnderTest) => Promise<void>]
  >,
): HoldCheck[] {
  return Object.entries(rows).map(([name, [title, needs, run]]) => ({
    ...{ id: `${group.replaceAll(' ', '-')}/${name}`, group, title, needs, run },
  }));
}

/** Returns what a check needs and an adapter does not offer. */
export function missingIn(adapter: HoldsAdapter, { needs }: HoldCheck): Capability[] {
  return needs.filter((need) => !offers(adapter, need));
}

function offers(adapter: HoldsAdapter, need: Capability): boolean {
  switch (need) {
    case 'take or runs':
      return adapter.take !== undefined || adapter.runs !== undefined;
    case 'stop':
    case 'kill':
      return adapter[need] !== undefined && adapter.start !== undefined;
    case 'waiting':
    case 'decide':
    case 'cancel':
    case 'take':
    case 'report':
    case 'expiresWithin':
      return adapter[need] !== undefined;
    default:
      return adapter.features?.includes(need) === true;
  }
}
