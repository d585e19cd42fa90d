import type { OpenOutcome } from '../../machines/domain/ledger.ts';
import type { Policies } from '../governance/governance.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  KeyStanding,
  OutcomePage,
  OutcomeQuery,
  Settlement,
  StatementEvent,
} from '../ports/ledger.ts';
import type { TaskStore } from '../records/records.ts';

export interface LimitBookPorts {
  store: Pick<TaskStore, 'ledger'>;
  policies: Policies;
  clock: Pick<Clock, 'now'>;
}

/** Limits over calls with what is used of them, and the calls whose outcome nobody knows. */
export class LimitBook {
  readonly #ports: LimitBookPorts;

  constructor(ports: LimitBookPorts) {
    this.#ports = ports;
  }

  /** Returns the limits of the policy in force, by name: those of each key with a call in the period, or the unused limit. */
  async standings(): Promise<KeyStanding[]> {
    const { store, policies, clock } = this.#ports;
    const { limits } = policies.current.policy;
    if (limits.length === 0) return [];
    const found = Map.groupBy(
      await store.ledger.standings(limits, clock.now()),
      ({ name }) => name,
    );
    return limits
      .toSorted((one, other) => one.name.localeCompare(other.name))
      .flatMap(
        ({ name, period, max }) =>
          found.get(name) ?? [{ name, by: {}, period, max, used: '0', reserved: '0', key: '' }],
      );
  }

  /** Lists the calls whose outcome nobody knows, and those that people settled, newest first. */
  outcomes(query: OutcomeQuery): Promise<OutcomePage> {
    return this.#ports.store.ledger.outcomes(query);
  }

  /** Returns a call whose outcome nobody knows, or that a person settled. */
  outcome(callId: string): Promise<OpenOutcome | undefined> {
    return this.#ports.store.ledger.outcome(callId);
  }

  /** Stores the statement of a person on a call, with its event in the log. */
  settle(callId: string, settled: Settlement, event: StatementEvent) {
    return this.#ports.store.ledger.settle(callId, settled, event);
  }
}
