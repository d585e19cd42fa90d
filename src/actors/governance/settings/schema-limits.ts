import * as z from 'zod';
import { decimalOf, decimalText } from '../../../machines/exact-decimal.ts';
import { defaultContextTemplate } from '../../../machines/governance/defer-policy.ts';
import { longDuration, name, ruleKeys, timeZone } from '../../schema-value.ts';
import { boundRule, type HoldRule } from './schema-defer.ts';

const undecimal = {
  error:
    'this must be a number of at most 15 digits, zero or above, or a decimal in quotes such as "5000.50"',
};

const decimal = z
  .union([z.number().min(0, undecimal), z.string().regex(decimalText, undecimal)], undecimal)
  .transform((written, context) => {
    const exact = decimalOf(written);
    if (exact !== null) return exact;
    context.addIssue({ code: 'custom', message: undecimal.error });
    return z.NEVER;
  });

const calendarPeriod = z.strictObject({
  calendar: z
    .enum(['day', 'week', 'month'])
    .describe('Period of the calendar; a week begins on Monday.'),
  zone: timeZone.meta({ description: 'Time zone of the calendar.', example: 'Europe/Berlin' }),
});

const period = z.union([longDuration, calendarPeriod], {
  // The form that was written has the better message.
  error: ({ input }) =>
    typeof input === 'string' ? longDuration.safeParse(input).error?.issues[0]?.message : undefined,
});

const { to, shadow, ...holdKeys } = boundRule.shape;

const limitSchema = z
  .object({
    tools: z
      .array(name)
      .min(1, { error: 'the list names no tool; add one' })
      .meta({
        description: 'The tools whose calls count, by name or pattern.',
        example: ['issue_refund', 'pay_*'],
      }),
    when: ruleKeys.when.meta({
      description: 'Condition in CEL under which a call counts; always if omitted.',
      example: 'args.currency == "EUR"',
    }),
    amount: z
      .string()
      .regex(/^args(\.[^.\s]+)+$/, { error: 'this must be args.NAME, such as args.amount' })
      .optional()
      .meta({
        description:
          'The argument that is added up, a number or digits in a string; each call counts 1 if omitted.',
        example: 'args.amount',
      }),
    by: z
      .array(name)
      .default([])
      .refine((all) => new Set(all).size === all.length, {
        error: 'a value is listed twice; remove one of the two',
      })
      .meta({
        description:
          'What is counted apart: `caller`, `org`, `session`, `agent`, `tool`, or a CEL expression.',
        example: ['caller'],
      }),
    per: period.meta({
      description: 'The period: a duration up to now, or `{calendar, zone}`.',
      example: '24h',
    }),
    max: decimal.meta({
      description: 'How many calls, or how large a sum, the period may have.',
      example: 5_000,
    }),
    over: z
      .enum(['defer', 'deny'])
      .default('defer')
      .describe('A call that would exceed the limit waits for approval, or is denied.'),
    to: to.meta({
      description:
        'Approval target of calls over the limit, or a list; required unless `over` is `deny`.',
      example: 'channel:slack:#finance',
    }),
    ...holdKeys,
    shadow: shadow.describe(
      'The limit counts and decides nothing; the log has `policy_shadow` when it would have.',
    ),
  })
  .refine(({ over, to: targets }) => over === 'deny' || targets !== undefined, {
    path: ['to'],
    error:
      'this key is missing, so no approver would be notified; write to: "channel:console:*", another target, or over: deny',
  });

const effectSchema = z.object({
  key: name.meta({
    description: 'The effect of a call, in which `{args.NAME}` and `{tool}` are filled in.',
    example: 'refund:{args.order_id}',
  }),
  repeat: z
    .enum(['ask', 'deny', 'join'])
    .default('ask')
    .describe(
      'A repeat waits for approval, is denied, or gets the first result if its arguments are equal.',
    ),
  within: longDuration.optional().meta({
    description:
      'Time after which the effect is a new one; as long as calls are stored if omitted.',
    example: '30d',
  }),
  reconcile: name.optional().meta({
    description:
      'Tool that answers `{ran: true}` or `{ran: false}` for a call whose outcome nobody knows.',
    example: 'find_refund',
  }),
  to: to.meta({
    description:
      'Approval target of repeats, or a list; that of the rule of the tool if omitted, else `channel:console:*`.',
    example: 'channel:console:*',
  }),
  ...holdKeys,
  shadow: shadow.describe(
    'The effect is stored and decides nothing; the log has `policy_shadow` when it would have.',
  ),
});

/** `security.limits` (docs/contract/governance.md). */
export const limitsSchema = z
  .record(z.string().regex(/^[a-z][a-z0-9_]*$/), limitSchema, {
    error: ({ code }) =>
      code === 'invalid_key'
        ? 'the name of a limit has lower-case letters, digits and _, such as refunds_a_day'
        : undefined,
  })
  .default({});

/** `security.effects` (docs/contract/governance.md). */
export const effectsSchema = z.record(z.string(), effectSchema).default({});

/** A limit of the configuration; its period, if it rolls, is in milliseconds. */
export type LimitRule = z.output<typeof limitSchema>;

/** An effect of the configuration; durations are in milliseconds. */
export type EffectRule = z.output<typeof effectSchema>;

/** Returns the rule by which calls over a limit, or repeats, are held. Their approval never counts for later calls. */
export function holdOfBound(
  rule: LimitRule | EffectRule,
  { to, timeout }: { to: readonly string[]; timeout: number },
): HoldRule {
  const { timeout: own = timeout, context_template: template = defaultContextTemplate } = rule;
  return { ...rule, to: [...to], timeout: own, context_template: template, never_remember: true };
}

/** The target of repeats for which neither the effect nor a rule of the tool names one. */
export const targetOfRepeats = 'channel:console:*';
