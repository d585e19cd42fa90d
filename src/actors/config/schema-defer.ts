import * as z from 'zod';
import { defaultContextTemplate } from '../../machines/governance/defer-policy.ts';
import { optionalTool, positiveDuration } from './schema-value.ts';

const target = z.string().regex(/^channel:[^:\s]+:\s*\S/, {
  error: 'the target must be channel:<adapter>:<target>, such as channel:console:*',
});

/** One target, or each one of those that are asked; a list without repetitions. */
const targets = z
  .union([target, z.array(target).min(1, { error: 'the list names no target; add one' })], {
    error: ({ input }) =>
      input === undefined
        ? 'this key is missing, so nobody would be asked; write to: "channel:console:*", or another target'
        : 'this must be a target such as channel:console:*, or a list of targets',
  })
  .transform((to) => [...new Set(typeof to === 'string' ? [to] : to)]);

const deferredTool = z.object({
  to: targets,
  timeout: positiveDuration.optional(),
  context_template: z.string().default(defaultContextTemplate),
  approvers: z.array(z.string()).default([]),
  quorum: z.int().min(1).default(1),
  four_eyes: z.boolean().default(false),
  remind: z.boolean().default(false),
  escalate_to: target.optional(),
  optional: optionalTool,
});

/** `security.defer`; a tool without a timeout of its own gets the default one (document 1 section 2.4). */
export const deferSchema = z
  .object({
    enabled: z.boolean().default(false),
    default_timeout: positiveDuration.prefault('10m'),
    default_approvers: z.array(z.string()).default([]),
    on_restart: z.enum(['abandon', 'resume']).default('abandon'),
    on_stream_disconnect: z.enum(['abandon', 'keep']).default('abandon'),
    on_reject: z.enum(['fail', 'tool_result']).default('fail'),
    bind_approver: z.boolean().default(false),
    tools: z.record(z.string(), deferredTool).default({}),
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
