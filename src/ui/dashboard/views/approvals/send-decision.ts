import type {
  DecisionRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import type { DecisionDetails, DecisionOutcome, Verb } from './decision-machine.ts';
import { refusal } from './refusal.ts';

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
