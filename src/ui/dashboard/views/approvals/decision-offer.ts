import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import type { ServerClock } from '../../state/server-clock.ts';
import type { Drafts } from './drafts.ts';
import type { startDecision } from './start-decision.ts';

/** What a page offers for decisions on its calls. */
export interface DecisionOffer {
  clock: ServerClock;
  drafts: Drafts;
  /** Sends the decision on a call, and its confirmation with a passkey. */
  actorsFor: (call: DeferralJson) => Parameters<typeof startDecision>[0];
  /** True for a person who has signed in and decides under no other name. */
  isPerson: boolean;
  /** Whether the person has a passkey; `null` on a page without passkeys. */
  hasPasskeys: boolean | null;
}
