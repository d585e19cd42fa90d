import { z } from 'zod';
import type { Delegation } from '../../actors/ports/delegations.ts';
import { Problem } from './problem.ts';
import { time, timestamp } from './timestamp.ts';

export const delegationRequest = z
  .object({
    from: z
      .string()
      .describe('Email of the person who gives the right; the caller if omitted.')
      .exactOptional(),
    to: z.string().describe('Email of the person who decides during that time.'),
    until: z.iso.datetime({ offset: true }).describe('End, in RFC 3339.'),
  })
  .meta({ id: 'DelegationRequest' });

export const delegation = z
  .object({ id: z.string(), from: z.string(), to: z.string(), since: time, until: time })
  .meta({ id: 'Delegation', description: 'The right to decide for another person.' });

export const delegationList = z
  .object({ delegations: z.array(delegation) })
  .meta({ id: 'DelegationList' });

/** Reads the body of `POST /delegations`. Throws a 400 Problem. */
export function readDelegation(body: unknown): { from?: string; to: string; until: number } {
  const { success, data } = delegationRequest.safeParse(body);
  if (!success) {
    const error =
      'the body must be {"to": EMAIL, "until": TIME} with a time such as 2026-12-27T09:00:00Z';
    throw new Problem('invalid_body', error);
  }
  const { from, to, until } = data;
  return { ...(from === undefined ? {} : { from }), to, until: Date.parse(until) };
}

/** Formats a delegation. */
export function presentDelegation({
  id,
  from,
  to,
  since,
  until,
}: Delegation): z.input<typeof delegation> {
  return { id, from, to, since: timestamp(since), until: timestamp(until) };
}
