import { z } from 'zod';
import type {
  FirstEffectJson,
  LimitJson,
  MeasuredLimitJson,
} from '../../machines/governance/limit-json.ts';
import { requester } from './requester.ts';
import { time } from './timestamp.ts';

export const amount = z
  .union([z.number(), z.string()])
  .describe('Exact amount: a number, or text if no number has exactly this value.');

const limitFields = {
  name: z.string().describe('Name of the limit in service.yaml.'),
  by: z
    .record(z.string(), z.string())
    .describe('The values that the limit counts apart, such as the caller; empty for all calls.'),
  period: z
    .object({
      rolling: z.string().describe('Duration up to now, such as 24h0m0s.').exactOptional(),
      calendar: z.enum(['day', 'week', 'month']).exactOptional(),
      zone: z.string().describe('Time zone of the calendar.').exactOptional(),
    })
    .describe('Either `rolling`, or `calendar` with `zone`.'),
  max: amount,
  used: amount.describe('Calls of the period that ran, or may have run.'),
  reserved: amount.describe(
    'Calls that are running, and released ones that their program has not received.',
  ),
  left: amount.describe(
    '`max` less `used` and `reserved`; negative if people approved calls over the limit.',
  ),
};

/** The standing of a limit. */
export const limit = z.object(limitFields).meta({ id: 'Limit' }) satisfies z.ZodType<LimitJson>;

/** A limit that applies to a held call. */
const measuredLimit = z
  .object({
    ...limitFields,
    amount: amount.nullable().describe('What the call adds; null if it cannot be measured.'),
    over: z.boolean().describe('The call is over the limit.'),
  })
  .meta({ id: 'MeasuredLimit' }) satisfies z.ZodType<MeasuredLimitJson>;

/** The earlier call with the same effect. */
const firstEffect = z
  .object({
    call_id: z.string(),
    task_id: z
      .string()
      .describe('Absent, with the people, if the caller may not read it.')
      .exactOptional(),
    key: z.string().describe('The effect, as `security.effects` names it.'),
    requested_by: requester.nullable().exactOptional(),
    at: time,
    released_by: z
      .string()
      .nullable()
      .describe('The approver; null if nobody was asked.')
      .exactOptional(),
    outcome: z
      .enum(['running', 'succeeded', 'unknown'])
      .describe('`running` includes a call that its program has not received yet.'),
  })
  .meta({ id: 'FirstEffect' }) satisfies z.ZodType<FirstEffectJson>;

/** What a held call was compared with. */
export const boundFields = {
  limits: z
    .array(measuredLimit)
    .describe('The limits of the call, as they were when people were asked.')
    .exactOptional(),
  first: firstEffect.describe('The earlier call with the same effect.').exactOptional(),
};

export const limitList = z.object({ limits: z.array(limit) }).meta({ id: 'LimitList' });
