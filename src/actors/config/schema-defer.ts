import * as z from 'zod';
import { defaultContextTemplate } from '../../machines/governance/defer-policy.ts';
import { optionalTool, positiveDuration } from './schema-value.ts';

const target = z.string().regex(/^channel:[^:\s]+:\s*\S/, {
  error: 'the target must be channel:<adapter>:<target>, such as channel:console:*',
});

/** One target, or a list of distinct targets that are all notified. */
const targets = z
  .union([target, z.array(target).min(1, { error: 'the list names no target; add one' })], {
    error: ({ input }) =>
      input === undefined
        ? 'this key is missing, so nobody would be asked; write to: "channel:console:*", or another target'
        : 'this must be a target such as channel:console:*, or a list of targets',
  })
  .transform((to) => [...new Set(typeof to === 'string' ? [to] : to)]);

const deferredTool = z.object({
  to: targets.meta({
    description:
      'Whom to ask: `channel:<adapter>:<target>`, or a list of them; each is asked and one decision counts.',
    example: 'channel:console:*',
  }),
  timeout: positiveDuration.optional().meta({
    description:
      'How long the call waits before it is denied by itself; `default_timeout` when it is left out.',
    example: '5m',
  }),
  context_template: z.string().default(defaultContextTemplate).meta({
    description:
      'What the approver reads; `{tool}`, `{args}` and single arguments such as `{args.amount}` are filled in, `(none)` for one that is missing.',
    example: '{tool} wants to pay back money: {args}',
  }),
  approvers: z
    .array(z.string())
    .default([])
    .meta({
      description:
        'Emails of those who may decide; `default_approvers` when it is left out or empty, and with neither anyone who is asked.',
      example: ['ann@example.com'],
    }),
  quorum: z.int().min(1).default(1).meta({
    description: 'How many different approvers of the list must approve; one rejection rejects.',
    example: 2,
  }),
  four_eyes: z.boolean().default(false).describe('Whoever asked for the call may not decide it.'),
  remind: z
    .boolean()
    .default(false)
    .describe('Reminds those who were asked when half of the time is over.'),
  escalate_to: target.optional().meta({
    description: 'Another target, asked as well once three quarters of the time are over.',
    example: 'channel:console:managers',
  }),
  optional: optionalTool,
});

/** `security.defer`; a tool without its own timeout gets the default (docs/contract/governance.md). */
export const deferSchema = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe('Switches the layer on; without it no call waits.'),
    default_timeout: positiveDuration
      .prefault('10m')
      .meta({ description: 'How long a call waits when its tool says nothing.', example: '6m' }),
    default_approvers: z
      .array(z.string())
      .default([])
      .meta({
        description: 'Emails of those who may decide where a tool lists none.',
        example: ['ann@example.com'],
      }),
    max_pending_per_caller: z.int().min(1).max(100_000).default(100).meta({
      description:
        'How many calls of one caller may wait at once; the next is refused with 429. All who do not sign in are one caller.',
      example: 20,
    }),
    on_restart: z
      .enum(['abandon', 'resume'])
      .default('abandon')
      .describe(
        'What becomes of unfinished tasks when the daemon starts again: `abandon` fails them, `resume` lets them go on.',
      ),
    on_stream_disconnect: z
      .enum(['abandon', 'keep'])
      .default('abandon')
      .describe(
        'What becomes of a waiting task when its legacy stream breaks: `abandon` fails it, `keep` lets it go on.',
      ),
    on_reject: z
      .enum(['fail', 'tool_result'])
      .default('fail')
      .describe('What a rejection does: `fail` ends the task, `tool_result` tells the model.'),
    bind_approver: z
      .boolean()
      .default(false)
      .describe(
        'The approver is the verified email of the token of the caller, and nothing that a body says.',
      ),
    tools: z
      .record(z.string(), deferredTool)
      .default({})
      .describe('The tools whose calls wait, by name.'),
  })
  .transform((defer) => ({ ...defer, tools: withTimeouts(defer.tools, defer.default_timeout) }));

type DeferredTool = z.output<typeof deferredTool>;

function withTimeouts(
  tools: Record<string, DeferredTool>,
  timeout: number,
): Record<string, DeferredTool & { timeout: number }> {
  const complete = (entry: DeferredTool) => ({ ...entry, timeout: entry.timeout ?? timeout });
  return Object.fromEntries(Object.entries(tools).map(([tool, entry]) => [tool, complete(entry)]));
}
