import { normaliseEmail } from '../../machines/governance/email.ts';
import { InOrder } from '../in-order.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type AskedDelegation,
  type Delegation,
  type DelegationAccess,
  DelegationRefusal,
  type Delegations,
} from '../ports/delegations.ts';
import type { Ids } from '../ports/ids.ts';
import type { PeopleDirectory } from './directory.ts';

/** A change for the log. */
export interface DelegationChange {
  event: 'delegation_given' | 'delegation_ended';
  delegation: Delegation;
}

export interface DelegatingPorts {
  rows: Delegations;
  directory: PeopleDirectory;
  /** Records a change before it applies. */
  record: (change: DelegationChange) => Promise<void>;
  clock: Clock;
  ids: Ids;
}

/** Longest delegation, in milliseconds. */
const longest = 366 * 86_400_000;

/** Maximum delegations of one person at once. */
const mostOfOne = 20;

/** Gives and ends delegations, and keeps the directory equal to the store. */
export class Delegating implements DelegationAccess {
  readonly #ports: DelegatingPorts;
  /** Changes are made one after the other, so that two of them do not form a circle. */
  readonly #changing = new InOrder();

  constructor(ports: DelegatingPorts) {
    this.#ports = ports;
  }

  /** Reads the delegations of the store, which other daemons may have changed. */
  async refresh(): Promise<void> {
    const { rows, directory, clock } = this.#ports;
    directory.delegate(await rows.all(clock.now()));
  }

  /** Returns the delegations in force. */
  async all(): Promise<readonly Delegation[]> {
    await this.refresh();
    return this.#ports.directory.delegations;
  }

  /** Gives a right. Throws DelegationRefusal. */
  give(asked: AskedDelegation): Promise<Delegation> {
    return this.#changing.run('all', async () => {
      const { rows, directory, record, clock, ids } = this.#ports;
      const now = clock.now();
      const known = await rows.all(now);
      const delegation = { ...checked(asked, known, now), id: ids.next(), since: now };
      await rows.put(delegation);
      directory.delegate([...known, delegation]);
      await record({ event: 'delegation_given', delegation });
      return delegation;
    });
  }

  /** Ends a delegation; returns it, or `undefined` if there is none. */
  end(id: string): Promise<Delegation | undefined> {
    return this.#changing.run('all', async () => {
      const { rows, directory, record, clock } = this.#ports;
      const known = await rows.all(clock.now());
      const delegation = known.find((one) => one.id === id);
      if (delegation === undefined) return undefined;
      await rows.delete(id);
      directory.delegate(known.filter((one) => one !== delegation));
      await record({ event: 'delegation_ended', delegation });
      return delegation;
    });
  }
}

function checked(
  { from, to, until }: AskedDelegation,
  known: readonly Delegation[],
  now: number,
): AskedDelegation {
  const giver = emailOf(from);
  const taker = emailOf(to);
  if (giver === taker)
    throw new DelegationRefusal('no one can delegate to oneself; name someone else');
  if (until <= now) throw new DelegationRefusal('until is over already; name a later time');
  if (until > now + longest) {
    throw new DelegationRefusal('a delegation lasts at most a year; name an earlier time');
  }
  if (isReached(giver, taker, known)) {
    throw new DelegationRefusal('the delegation would form a circle; end the other one first');
  }
  if (known.filter((one) => one.from === giver).length >= mostOfOne) {
    throw new DelegationRefusal(`a person has at most ${mostOfOne} delegations; end one first`);
  }
  return { from: giver, to: taker, until };
}

function emailOf(text: string): string {
  const email = normaliseEmail(text);
  if (email === null) throw new DelegationRefusal('from and to must be emails');
  return email;
}

/** Returns true if the rights of a person lead to another one by delegations. */
function isReached(
  person: string,
  start: string,
  known: readonly Delegation[],
  seen = new Set<string>(),
): boolean {
  if (start === person) return true;
  if (seen.has(start)) return false;
  seen.add(start);
  return known.some(({ from, to }) => from === start && isReached(person, to, known, seen));
}
