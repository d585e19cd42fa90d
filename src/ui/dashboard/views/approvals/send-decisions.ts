import type {
  DecisionsJson,
  DecisionsRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { ApiError } from '../../api/api-error.ts';
import type { DecisionDetails, DecisionOutcome, Verb } from './decision-machine.ts';
import { refusal } from './refusal.ts';
import type { CallOutcome } from './several-words.ts';

/** Maximum number of decisions that an agent accepts in one request. */
const mostAtOnce = 100;

/** One request to an agent, and the calls that it decides in the same order. */
interface DecisionRequest {
  agent: string;
  calls: readonly DeferralJson[];
  body: DecisionsRequestJson;
}

/** Builds the requests of one decision on several calls, each pinned to its displayed arguments. */
export function decisionRequests(
  calls: readonly DeferralJson[],
  verb: Verb,
  { note, email, token }: DecisionDetails,
): DecisionRequest[] {
  return [...Map.groupBy(calls, ({ agent_id }) => agent_id)].flatMap(([agent, own]) =>
    partsOf(own).map((part) => ({
      agent,
      calls: part,
      body: {
        decisions: part.map(({ task_id, id, args_sha256 }) => ({
          ...{ task_id, decision: verb, deferral_id: id, args_sha256 },
          ...(note === '' ? {} : { note }),
          ...(email === '' ? {} : { approver_email: email }),
        })),
        ...(token === '' ? {} : { token }),
      },
    })),
  );
}

function partsOf(calls: readonly DeferralJson[]): DeferralJson[][] {
  return Array.from({ length: Math.ceil(calls.length / mostAtOnce) }, (_, index) =>
    calls.slice(index * mostAtOnce, (index + 1) * mostAtOnce),
  );
}

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
