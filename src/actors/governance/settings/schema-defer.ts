import * as z from 'zod';
import { defaultContextTemplate } from '../../../machines/governance/defer-policy.ts';
import { optionalTool, positiveDuration, ruleKeys, rulesOf } from '../../schema-value.ts';

/** An approval target. */
export const target = z.string().regex(/^channel:[^:\s]+:\s*\S/, {
  error: 'the target must be channel:<adapter>:<target>, such as channel:console:*',
});

/** One target, or a list of distinct targets that are all notified. */
const targets = z
  .union([target, z.array(target).min(1, { error: 'the list names no target; add one' })], {
    error: ({ input }) =>
      input === undefined
        ? 'this key is missing, so no approver would be notified; write to: "channel:console:*", or another target'
        : 'this must be a target such as channel:console:*, or a list of targets',
  })
  .transform((to) => [...new Set(typeof to === 'string' ? [to] : to)]);

/** Stages of an escalation, each later than the one before. */
const stages = z
  .array(
    z.strictObject({
      to: target.meta({ description: 'Target of the stage.', example: 'channel:console:leads' }),
      after: positiveDuration.meta({
        description: 'Time from the request until the target is notified; before the timeout.',
        example: '2m',
      }),
    }),
  )
  .min(1, { error: 'the list names no stage; add one, or omit the key' })
  .max(8, { error: 'an escalation has at most 8 stages; remove some' })
  .refine((all) => all.every(({ after }, at) => after > (all[at - 1]?.after ?? 0)), {
    error: 'each stage must be later than the one before; sort them by after',
  });

const contextTemplate = z.string().meta({
  description:
    'Text for the approver; `{tool}`, `{args}` and single arguments such as `{args.amount}` are filled in, `(none)` for a missing one.',
  example: '{tool} wants to pay back money: {args}',
});

const holdingRule = z.object({
  ...ruleKeys,
  to: targets.meta({
    description:
      'Approval target `channel:<adapter>:<target>`, or a list; each is notified and one decision counts.',
    example: 'channel:console:*',
  }),
  timeout: positiveDuration.optional().meta({
    description: 'Time until the call is denied automatically; `default_timeout` if omitted.',
    example: '5m',
  }),
  context_template: contextTemplate.default(defaultContextTemplate),
  approvers: z
    .array(z.string())
    .default([])
    .meta({
      description:
        'Emails of approvers, `group:NAME`, `oncall:NAME` or `claim:NAME=VALUE`; `default_approvers` if omitted or empty; anyone notified without either.',
      example: ['ann@example.com', 'group:finance'],
    }),
  quorum: z
    .union([z.int().min(1), z.record(z.string(), z.int().min(1))], {
      error: ({ input }) =>
        typeof input === 'number' && !Number.isInteger(input)
          ? 'this must be a whole number'
          : 'this must be a number above zero, or a map such as {"group:legal": 1}',
    })
    .default(1)
    .meta({
      description:
        'How many different approvers of the list must approve, or how many of each group; one rejection rejects.',
      example: 2,
    }),
  four_eyes: z.boolean().default(false).describe('The requester may not decide the call.'),
  mention: z
    .boolean()
    .optional()
    .describe(
      'Messages in Slack and Teams mention the approvers and who is on call, in Slack their user groups too.',
    ),
  remind: z.boolean().default(false).describe('Sends a reminder when half of the time is over.'),
  escalate_to: z.union([target, stages]).optional().meta({
    description:
      'Additional target, notified when three quarters of the time are over; or stages `{to, after}`, each notified at its time.',
    example: 'channel:console:managers',
  }),
  require_reason: z.enum(['approve', 'reject', 'both']).optional().meta({
    description: 'The decisions that need a `note`; without one they are refused with 400.',
    example: 'reject',
  }),
  require_passkey: z
    .boolean()
    .optional()
    .describe(
      'An approval needs a passkey on the approvals page; it never counts for later calls.',
    ),
  never_remember: z
    .boolean()
    .default(false)
    .describe('No approval of this rule counts for later calls.'),
  edit: z
    .boolean()
    .default(false)
    .describe('An approval may change the arguments; the changed call passes every layer again.'),
  display: z
    .array(
      z.string().regex(/^args(\.[^.\s]+)+$/, {
        error: 'this must be args.NAME, such as args.amount',
      }),
    )
    .min(1, { error: 'the list names no argument; add one, or omit the key' })
    .max(6, { error: 'a row of a list has room for 6 arguments; remove some' })
    .optional()
    .meta({
      description:
        'Arguments that a list of waiting calls shows, in this order; the short ones if omitted.',
      example: ['args.amount', 'args.order_id'],
    }),
  optional: optionalTool,
});

/** Keys of a rule for calls over a limit, or for repeats; an approval of these never counts for later calls. */
export const boundRule = holdingRule.omit({ when: true, never_remember: true }).extend({
  to: targets.optional(),
  context_template: contextTemplate.optional().meta({
    description: 'Text for the approver; that of the rule of the tool if omitted.',
    example: '{tool} is over the limit: {args}',
  }),
});

const releasingRule = z.strictObject({
  ...ruleKeys,
  allow: z.literal(true).describe('Calls under this condition need no approval.'),
  optional: optionalTool,
});

/** A rule that holds calls, or one that lets them run. */
const deferredTool = z.union([releasingRule, holdingRule]);

/** `security.defer`; a tool without its own timeout gets the default (docs/contract/governance.md). */
export const deferSchema = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe('Switches the layer on; without it no call waits.'),
    default_timeout: positiveDuration
      .prefault('10m')
      .meta({ description: 'Default time until a waiting call is denied.', example: '6m' }),
    default_approvers: z
      .array(z.string())
      .default([])
      .meta({
        description: 'Default approvers: emails, and entries such as `group:finance`.',
        example: ['ann@example.com'],
      }),
    max_pending_per_caller: z.int().min(1).max(100_000).default(100).meta({
      description:
        'Maximum waiting calls of one caller; the next is refused with 429. All anonymous callers count as one.',
      example: 20,
    }),
    remember: z
      .object({
        max_time: positiveDuration
          .prefault('8h')
          .meta({ description: 'Longest time of a remembered approval.', example: '1h' }),
        max_uses: z.int().min(1).max(10_000).default(20).meta({
          description: 'Maximum number of later calls that one approval releases.',
          example: 5,
        }),
      })
      .optional()
      .describe('Lets approvals count for later calls; without it each call needs its own.'),
    on_restart: z
      .enum(['abandon', 'resume'])
      .default('abandon')
      .describe('Unfinished tasks at a restart: `abandon` fails them, `resume` continues them.'),
    on_stream_disconnect: z
      .enum(['abandon', 'keep'])
      .default('abandon')
      .describe(
        'A waiting task whose legacy stream breaks: `abandon` fails it, `keep` continues it.',
      ),
    on_reject: z
      .enum(['fail', 'tool_result'])
      .default('fail')
      .describe(
        'Effect of a rejection: `fail` ends the task, `tool_result` returns it to the model.',
      ),
    on_timeout: z
      .enum(['fail', 'tool_result'])
      .default('fail')
      .describe(
        'Effect of a timeout: `fail` ends the task, `tool_result` returns it to the model.',
      ),
    bind_approver: z
      .boolean()
      .default(false)
      .describe("The approver is the verified email of the caller's token; the body is ignored."),
    tools: z
      .record(z.string(), rulesOf(deferredTool))
      .default({})
      .describe(
        'The tools whose calls wait, by name. A tool has one rule or a list, of which the first that applies counts.',
      ),
  })
  .transform((defer) => ({ ...defer, tools: withTimeouts(defer.tools, defer.default_timeout) }));

type DeferredTool = z.output<typeof deferredTool>;

/** A rule that holds calls of a tool, with its timeout in milliseconds. */
export type HoldRule = z.output<typeof holdingRule> & { timeout: number };

/** Returns a rule with every default for calls that wait at a target, for `timeout` milliseconds. */
export function holdRule(to: string, timeout: number): HoldRule {
  return { ...holdingRule.parse({ to }), timeout };
}

function withTimeouts(
  tools: Record<string, DeferredTool[]>,
  timeout: number,
): Record<string, (z.output<typeof releasingRule> | HoldRule)[]> {
  const complete = (rule: DeferredTool) =>
    'allow' in rule ? rule : { ...rule, timeout: rule.timeout ?? timeout };
  return Object.fromEntries(
    Object.entries(tools).map(([tool, rules]) => [tool, rules.map(complete)]),
  );
}
