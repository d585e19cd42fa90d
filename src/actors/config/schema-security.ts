import * as z from 'zod';
import { alignmentSchema } from '../alignment/alignment.ts';
import { deferSchema } from './schema-defer.ts';
import { name, optionalTool } from './schema-value.ts';

const enabled = z.boolean().default(false);

const replacement = z.object({ pattern: z.string(), with: z.string() });

const argumentRule = z.union(
  [
    z.strictObject({ path: name, set: z.json() }),
    z.strictObject({ path: name, remove: z.literal(true) }),
    z.strictObject({ path: name, replace: replacement }),
  ],
  { error: 'a rule must be {path, set}, {path, remove: true} or {path, replace: {pattern, with}}' },
);

const modifySchema = z.object({
  enabled,
  tools: z
    .record(
      z.string(),
      z.object({
        arguments: z.array(argumentRule).default([]),
        output: z.array(z.object({ replace: replacement })).default([]),
        optional: optionalTool,
      }),
    )
    .default({}),
});

const denial = z.object({ pattern: z.string(), message: z.string().optional() });

const guardrailsSchema = z.object({
  enabled,
  deny_commands: z.array(denial).default([]),
  deny_prompts: z.array(denial).default([]),
  deny_output: z
    .array(z.object({ pattern: z.string(), action: z.enum(['block', 'redact']) }))
    .default([]),
  denied_tools: z.array(name).default([]),
  redact: z.array(name).default([]),
});

/** What a tool requires: an acr, or one beside what else there is to say of the rule. */
const steppedTool = z
  .union([name, z.object({ acr: name, optional: optionalTool })], {
    error: 'this must be an acr, or {acr: <acr>, optional: true}',
  })
  .transform((rule) => (typeof rule === 'string' ? { acr: rule, optional: false } : rule));

const stepUpSchema = z.object({
  enabled,
  tools: z.record(z.string(), steppedTool).default({}),
  acr_hierarchy: z.array(name).default([]),
});

/** `security`: the layers that judge a tool call (contract sections 3 and 7). */
export const securitySchema = z.object({
  intent_alignment: alignmentSchema.prefault({}),
  step_up: stepUpSchema.prefault({}),
  modify: modifySchema.prefault({}),
  guardrails: guardrailsSchema.prefault({}),
  defer: deferSchema.prefault({}),
});
