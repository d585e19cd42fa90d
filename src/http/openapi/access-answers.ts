import type { z } from 'zod';
import { admissionDenied } from '../wire/admission.ts';
import { rpcRefusal } from '../wire/json-rpc.ts';
import { statusRefusal } from '../wire/present-refusal.ts';
import { refusal, unauthorized } from '../wire/problem.ts';
import { type Answer, holding, type Operation, type RefusalForm } from './operation.ts';

const refusals: Record<RefusalForm, z.ZodType> = {
  sentence: refusal,
  status: statusRefusal,
  rpc: rpcRefusal,
};

/**
 * Returns the responses that an operation may have before its route runs (docs/contract/authentication.md,
 * docs/contract/transports.md).
 */
export function accessAnswers(operation: Operation): Record<number, Answer> {
  const {
    form = 'sentence',
    isPublic = false,
    isAdmitted = false,
    isUnlimited = false,
    body,
  } = operation;
  const refused = (says: string, more: Partial<Answer> = {}, own?: z.ZodType): Answer =>
    holding(says, form === 'sentence' ? (own ?? refusals[form]) : refusals[form], more);
  const retry = { headers: { 'Retry-After': 'Seconds to wait.' } };
  const challenge = { headers: { 'WWW-Authenticate': 'How to sign in.' } };
  const unreadable = body === undefined ? '' : ', its body no JSON or nested too deeply';
  return {
    400: refused(`The request is ambiguous${unreadable}.`),
    ...(isPublic
      ? {}
      : {
          401: refused('Authentication is missing or insufficient.', challenge, unauthorized),
          403: refused('A web page of another origin may not call.'),
        }),
    ...(body === undefined
      ? {}
      : {
          413: refused('The body is longer than 2 MiB.'),
          415: refused('The body has another type.'),
        }),
    ...(isAdmitted ? { 402: refused('Admission denies it.', retry, admissionDenied) } : {}),
    ...(isUnlimited ? {} : { 429: refused('The address calls too quickly.', retry) }),
    500: refused('A defect; the log of the agent says more.'),
    503: refused('The agent is starting, draining, overloaded or cannot record events.'),
  };
}
