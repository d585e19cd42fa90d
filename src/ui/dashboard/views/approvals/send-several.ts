import type {
  DecisionsJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { agentPath } from '../../api/paths.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import type { DecisionDetails, Verb } from './decision-machine.ts';
import { sendDecisions } from './send-decisions.ts';
import type { CallOutcome } from './several-words.ts';

/** Sends one decision on several calls, and keeps the outcomes in the stores of the page. Never rejects. */
export async function sendSeveral(
  { client, clock, decided, me, own }: Dashboard,
  verb: Verb,
  calls: readonly DeferralJson[],
  details: DecisionDetails,
): Promise<CallOutcome[]> {
  if (details.email !== '') me.trigger.named({ email: details.email });
  // The stream may report the end before the response arrives.
  for (const call of calls) own.add(call.id);
  const sender = {
    post: (agent: string, body: object) =>
      client.post<DecisionsJson>(agentPath(agent, 'deferrals', 'decisions'), body),
    isPerson: client.person !== null,
  };
  const found = await sendDecisions(sender, calls, verb, details);
  for (const { call, outcome } of found) {
    if (outcome.kind === 'resolved') decided.trigger.noted({ deferral: call, verb, at: clock.now });
    else if (outcome.kind !== 'over') own.delete(call.id);
  }
  return found;
}
