import type {
  DecisionsJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { ApiError } from '../../api/api-error.ts';
import type { DecisionDetails, DecisionOutcome, Verb } from './decision-machine.ts';
import { type DecisionRequest, decisionRequests } from './decision-requests.ts';
import { refusal } from './refusal.ts';
import type { CallOutcome } from './several-words.ts';

/** How decisions on several calls of an agent are sent. */
export interface DecisionSender {
  /** Sends a request to an agent. Rejects with ApiError. */
  post: (agent: string, body: DecisionRequest['body']) => Promise<DecisionsJson>;
  /** True for a person who has signed in, false for the operator of the machine. */
  isPerson: boolean;
}

/** Sends one decision on several calls, each pinned to its displayed arguments. Never rejects. */
export async function sendDecisions(
  sender: DecisionSender,
  calls: readonly DeferralJson[],
  verb: Verb,
  details: DecisionDetails,
): Promise<CallOutcome[]> {
  const requests = decisionRequests(calls, verb, details);
  return (await Promise.all(requests.map((request) => send(sender, request)))).flat();
}

async function send(
  { post, isPerson }: DecisionSender,
  { agent, calls, body }: DecisionRequest,
): Promise<CallOutcome[]> {
  try {
    const { decisions } = await post(agent, body);
    return calls.map((call, index) => ({ call, outcome: outcomeOf(decisions[index], isPerson) }));
  } catch (error) {
    const outcome = refusal(error, isPerson);
    return calls.map((call) => ({ call, outcome }));
  }
}

/** A missing answer, or one of another form, counts as a refusal. */
function outcomeOf(
  answer: DecisionsJson['decisions'][number] | undefined,
  isPerson: boolean,
): DecisionOutcome {
  const { status = 0, body } = answer ?? {};
  const { status: said, error } = Object(body) as { status?: unknown; error?: unknown };
  if (status === 200) return { kind: said === 'recorded' ? 'recorded' : 'resolved' };
  const message = typeof error === 'string' ? error : 'The agent did not answer this decision';
  return refusal(new ApiError(status, message, body), isPerson);
}
