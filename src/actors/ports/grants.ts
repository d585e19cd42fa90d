import type { Grant } from '../../machines/domain/grant.ts';

/** Stored releases of later calls. A grant is used at most as often as it allows, at all daemons of the store together. */
export interface Grants {
  /** Returns the grants that have not ended at a time in epoch milliseconds, oldest first. */
  all(now: number): Promise<Grant[]>;
  /** Returns the grants of a tool for a requester, in the form of `grantee`, that may be used now. */
  usable(tool: string, requester: string, now: number): Promise<Grant[]>;
  /** Stores a grant, and deletes those that had ended at its start. */
  put(grant: Grant): Promise<void>;
  /** Uses a grant once; returns the remaining uses, or `null` if it cannot be used any more. */
  use(id: string, now: number): Promise<number | null>;
  /** Gives back one use of a grant, of a call that does not run. */
  giveBack(id: string): Promise<void>;
  /** Suspends the grants of a tool for a requester; returns those that it changed. */
  suspend(tool: string, requester: string): Promise<Grant[]>;
  /** Ends a grant; returns false if there is none with this id. */
  delete(id: string): Promise<boolean>;
}

/** Returns the text under which the grants of a requester are stored. */
export function grantee(requester: Grant['requester']): string {
  return requester === null ? '' : `${requester.provider}\n${requester.userId}`;
}
