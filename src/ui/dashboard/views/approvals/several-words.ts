import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import type { DecisionOutcome, Verb } from './decision-machine.ts';

/** A call and the server's response to the decision on it. */
export interface CallOutcome {
  call: DeferralJson;
  outcome: DecisionOutcome;
}

/** Summarises the responses to one decision on several calls: `Rejected 12 calls; 1 was already decided.` */
export function severalWords(verb: Verb, outcomes: readonly CallOutcome[]): string {
  const count = (kind: CallOutcome['outcome']['kind']) =>
    outcomes.filter(({ outcome }) => outcome.kind === kind).length;
  const [resolved, recorded, over, refused] = [
    count('resolved'),
    count('recorded'),
    count('over'),
    count('refused'),
  ];
  const parts = [
    `${verb === 'approve' ? 'Approved' : 'Rejected'} ${calls(resolved)}`,
    ...(recorded === 0
      ? []
      : [`${recorded} ${recorded === 1 ? 'needs' : 'need'} another approval`]),
    ...(over === 0 ? [] : [`${over} ${over === 1 ? 'was' : 'were'} no longer pending`]),
    ...(refused === 0 ? [] : [`${refused} ${refused === 1 ? 'was' : 'were'} refused`]),
  ];
  return `${parts.join('; ')}.`;
}

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count.toLocaleString('en')} calls`;
}
