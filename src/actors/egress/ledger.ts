import type { EgressMode, EgressRecord, EgressScope } from '../ports.ts';
import { EgressError } from './egress-error.ts';

/** Where rulings are recorded. */
export interface Ledger {
  /** Records a refusal and makes its error. */
  refuse: (host: string, why: string, scope: EgressScope | null) => EgressError;
  /** Records what became of a hop whose name was allowed. */
  settle: (host: string, refusal: EgressError | null, scope: EgressScope | null) => void;
}

/** Makes a ledger of one daemon; both of its functions throw what `record` throws. */
export function createLedger({
  mode,
  record,
}: {
  mode: EgressMode;
  record: (record: EgressRecord) => void;
}): Ledger {
  return {
    refuse(host, why, scope) {
      record({ scope, domain: host, mode, reason: why });
      return new EgressError({ host, why, mode });
    },
    settle(host, refusal, scope) {
      record({ scope, domain: host, mode, reason: refusal?.why ?? null });
    },
  };
}
