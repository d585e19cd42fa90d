import * as z from 'zod';
import { name, positiveDuration, variableName } from '../config/schema-value.ts';

const score = z.number().min(-1).max(1);

const driftSchema = z
  .object({
    window: z.int().min(2).max(1_000).default(5),
    drift_threshold: score.default(0.35),
    monotone_n: z.int().min(2).default(3),
  })
  .refine(({ window, monotone_n }) => window < 2 || monotone_n <= window, {
    path: ['monotone_n'],
    error:
      'monotone_n must be at most window; lower it or raise window (they are 3 and 5 by default)',
  });

/** `security.intent_alignment`, in its own key names; the timeout is milliseconds (contract sections 3 and 7). */
export const alignmentSchema = z.object({
  enabled: z.boolean().default(false),
  provider: z.enum(['openai', 'openai-compatible', 'google', 'ollama', 'local']).default('openai'),
  model: name.default('text-embedding-3-small'),
  base_url: z.string().optional(),
  api_key_env: variableName.optional(),
  timeout: positiveDuration.prefault('5s'),
  threshold: score.default(0.5),
  hard_threshold: score.default(0.3),
  /** Without it nobody looks for a drift. */
  drift: driftSchema.optional(),
});

/** How intent alignment is configured, checked in shape and complete. */
export type AlignmentSettings = z.output<typeof alignmentSchema>;
