import { z } from 'zod';
import type { OpenOutcome } from '../../machines/domain/ledger.ts';
import { effectsOf, limitsOf, requesterJson } from '../../machines/governance/limit-json.ts';
import type { JsonObject } from '../../machines/json.ts';
import { digest } from './deferral.ts';
import { amount } from './limit.ts';
import { errorCode, Problem } from './problem.ts';
import { requester } from './requester.ts';
import { time, timestamp } from './timestamp.ts';

const statement = z
  .object({
    ran: z.boolean(),
    by: z.string().describe('The person who said so.'),
    reason: z.string(),
    at: time,
    contradicted_at: time
      .describe(
        'When the call was reported as succeeded although it did not run according to this.',
      )
      .exactOptional(),
  })
  .meta({ id: 'Settlement', description: 'The statement of a person on a call.' });

export const outcome = z
  .object({
    call_id: z.string(),
    task_id: z.string(),
    tool: z.string(),
    args_sha256: digest,
    requested_by: requester.nullable(),
    at: time.describe('When the daemon lost the call, or its program did not report in time.'),
    limits: z
      .array(z.object({ name: z.string(), amount }))
      .describe('The limits that the call counts for.'),
    effects: z.array(z.string()).describe('The effects that the call keeps from being repeated.'),
    settled: statement.nullable().describe('null while nobody has settled the call.'),
  })
  .meta({ id: 'Outcome', description: 'A call whose outcome nobody knew.' });

export const outcomePage = z
  .object({ outcomes: z.array(outcome), next_cursor: z.string().exactOptional() })
  .meta({ id: 'OutcomePage' });

export const settledEarlier = z
  .object({ error: z.string(), code: errorCode, settled: statement.exactOptional() })
  .meta({ id: 'SettledEarlier' });

const text = (least: number, most: number) =>
  z
    .string({ error: 'must be a string' })
    .trim()
    .min(least, { error: 'must not be empty' })
    .refine((value) => [...value].length <= most, { error: `must be at most ${most} characters` });

export const settlementRequest = z
  .object({
    call_id: text(1, 128),
    ran: z.boolean({ error: 'must be true or false' }),
    reason: text(1, 2_000).describe('Why the person is certain.'),
    approver: text(1, 254)
      .describe('Name of the person; counts only with the token of the daemon.')
      .exactOptional(),
  })
  .meta({ id: 'SettlementRequest' });

/** Reads the body of a settlement. Throws a 400 Problem. */
export function readSettlement(body: unknown): z.output<typeof settlementRequest> {
  const { data, error } = settlementRequest.safeParse(body);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  const form = 'the body must be {"call_id", "ran": true or false, "reason"}';
  throw new Problem('invalid_body', path === '' ? form : `${path} ${issue?.message}`);
}

/** Formats a call whose outcome nobody knew. */
export function presentOutcome(one: OpenOutcome): z.input<typeof outcome> {
  const { callId, taskId, tool, argsSha256, requester: by, at, entries, settled } = one;
  return {
    ...{ call_id: callId, task_id: taskId, tool, args_sha256: argsSha256 },
    requested_by: requesterJson(by),
    at: timestamp(at),
    limits: limitsOf(entries),
    effects: effectsOf(entries),
    settled: settled === undefined ? null : presentStatement(settled),
  };
}

function presentStatement({
  contradictedAt,
  at,
  ...stated
}: NonNullable<OpenOutcome['settled']>): z.output<typeof statement> {
  return {
    ...{ ...stated, at: timestamp(at) },
    ...(contradictedAt === undefined ? {} : { contradicted_at: timestamp(contradictedAt) }),
  };
}

/** Returns the refusal of a statement on a call that a person settled earlier. */
export function settledBefore({ settled }: OpenOutcome): Problem {
  if (settled === undefined) {
    return new Problem('outcome_settled', 'another person settled the call in the meantime');
  }
  const said = settled.ran ? 'that it ran' : 'that it did not run';
  const at = timestamp(settled.at);
  const more: JsonObject = { settled: presentStatement(settled) };
  return new Problem('outcome_settled', `${settled.by} settled the call at ${at}: ${said}`, more);
}
