/** The right to decide that one person gives to another for some time. Emails are normalised, times epoch milliseconds. */
export interface Delegation {
  id: string;
  from: string;
  to: string;
  since: number;
  until: number;
}

/** The right that a person wants to give. */
export type AskedDelegation = Pick<Delegation, 'from' | 'to' | 'until'>;

/** Why a delegation is refused; one sentence. */
export class DelegationRefusal extends Error {
  override readonly name = 'DelegationRefusal';
}

/** Gives and ends delegations. */
export interface DelegationAccess {
  /** Returns the delegations in force. */
  all(): Promise<readonly Delegation[]>;
  /** Gives a right. Throws DelegationRefusal. */
  give(asked: AskedDelegation): Promise<Delegation>;
  /** Ends a delegation; returns it, or `undefined` if there is none. */
  end(id: string): Promise<Delegation | undefined>;
}

/** The stored delegations. */
export interface Delegations {
  /** Returns the delegations that have not ended at a time in epoch milliseconds, oldest first. */
  all(now: number): Promise<Delegation[]>;
  /** Stores a delegation, and deletes those that had ended at its start. */
  put(delegation: Delegation): Promise<void>;
  /** Ends a delegation; returns false if there is none with this id. */
  delete(id: string): Promise<boolean>;
}
