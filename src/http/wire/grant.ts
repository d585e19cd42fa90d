import { z } from 'zod';
import type { Grant } from '../../machines/domain/grant.ts';
import { digest } from './deferral.ts';
import { time, timestamp } from './timestamp.ts';

export const grant = z
  .object({
    id: z.string(),
    tool: z.string(),
    scope: z.enum(['task', 'caller']),
    when: z.string().describe('CEL condition of the calls it releases.').exactOptional(),
    args_sha256: digest.describe('`args_sha256` of the calls that it releases.').exactOptional(),
    requester: z.string().nullable().describe('The caller whose calls it releases.'),
    approver: z.string(),
    for: z.string().exactOptional(),
    deferral_id: z.string().describe('The deferral whose approval gave it.'),
    since: time,
    until: time,
    uses_left: z.int(),
    suspended: z.boolean().describe('A similar call was rejected since.'),
  })
  .meta({ id: 'Grant', description: 'An approval that releases later calls.' });

export const grantList = z.object({ grants: z.array(grant) }).meta({ id: 'GrantList' });

/** Formats a grant. */
export function presentGrant(one: Grant): z.input<typeof grant> {
  const { id, tool, session, when, argsSha256, requester, approver } = one;
  return {
    ...{ id, tool, scope: session === undefined ? 'caller' : 'task' },
    ...(when === undefined ? {} : { when }),
    ...(argsSha256 === undefined ? {} : { args_sha256: argsSha256 }),
    ...{ requester: requester?.userId ?? null, approver },
    ...(one.for === undefined ? {} : { for: one.for }),
    deferral_id: one.deferralId,
    ...{ since: timestamp(one.since), until: timestamp(one.until), uses_left: one.usesLeft },
    suspended: one.isSuspended === true,
  };
}
