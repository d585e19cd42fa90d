import type {
  DecisionsRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import type { DecisionDetails, Verb } from './decision-machine.ts';

/** Maximum number of decisions that an agent accepts in one request. */
const mostAtOnce = 100;

/** One request to an agent, and the calls that it decides in the same order. */
export interface DecisionRequest {
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
