import { ApiError } from '../../api/api-error.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { DecisionOutcome } from './decision-machine.ts';

/** HTTP statuses that mean the call no longer pending for a decision. */
const over: readonly number[] = [404, 409, 410];

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
