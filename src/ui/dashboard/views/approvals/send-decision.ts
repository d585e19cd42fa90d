import type {
  DecisionRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { type ApiClient, ApiError } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { DecisionDetails, DecisionOutcome, Verb } from './decision-machine.ts';

/** HTTP statuses that mean the call no longer pending for a decision. */
const over: readonly number[] = [404, 409, 410];

/** Sends a decision pinned to the displayed call, so that it never applies to a replacement. Never rejects. */
export async function sendDecision(
  client: ApiClient,
  deferral: DeferralJson,
  verb: Verb,
  { note, email, token, args, remember }: DecisionDetails,
): Promise<DecisionOutcome> {
  const body: DecisionRequestJson = {
    decision: verb,
    deferral_id: deferral.id,
    args_sha256: deferral.args_sha256,
    ...(args === undefined || verb !== 'approve' ? {} : { args }),
    ...(remember === undefined ? {} : { remember }),
    ...(note === '' ? {} : { note }),
    ...(email === '' ? {} : { approver_email: email }),
    ...(token === '' ? {} : { token }),
  };
  try {
    const path = agentPath(deferral.agent_id, 'tasks', deferral.task_id, 'decisions');
    const { status } = await client.post<{ status: string }>(path, body);
    return { kind: status === 'recorded' ? 'recorded' : 'resolved' };
  } catch (error) {
    return refusal(error, client.person !== null);
  }
}

/** Describes the refusal of a decision of a person who has signed in, or of the operator of the machine. */
export function refusal(error: unknown, isPerson: boolean): DecisionOutcome {
  if (error instanceof ApiError && over.includes(error.status)) {
    return { kind: 'over', problem: overSentence(error) };
  }
  if (error instanceof ApiError && error.status === 403) {
    const remedy = isPerson ? '' : ' Enter the email of a listed approver, or your own token.';
    const problem = `You cannot decide on this call.${remedy}`;
    return { kind: 'refused', problem: `${problem} (${error.message})` };
  }
  return { kind: 'refused', problem: sentenceOf(error) };
}

function overSentence({ message, body }: ApiError): string {
  const facts = body as { decision?: unknown; approver?: unknown } | null;
  if (typeof facts?.decision !== 'string') return `${message}.`;
  const by = typeof facts.approver === 'string' ? ` by ${facts.approver}` : '';
  return `Already decided: ${facts.decision}${by}.`;
}
