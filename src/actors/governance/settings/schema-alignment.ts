import * as z from 'zod';
import { name, positiveDuration, variableName } from '../../schema-value.ts';

const score = z.number().min(-1).max(1);

const driftSchema = z
  .object({
    window: z
      .int()
      .min(2)
      .max(1_000)
      .default(5)
      .meta({ description: 'Number of latest scores of a task that are evaluated.', example: 8 }),
    drift_threshold: score
      .default(0.35)
      .meta({ description: 'Mean below which a task counts as drifting.', example: 0.4 }),
    monotone_n: z.int().min(2).default(3).meta({
      description: 'Consecutive falling scores after which a task counts as drifting.',
      example: 4,
    }),
  })
  .refine(({ window, monotone_n }) => window < 2 || monotone_n <= window, {
    path: ['monotone_n'],
    error:
      'monotone_n must be at most window; lower it or raise window (they are 3 and 5 by default)',
  });

/**
 * `security.intent_alignment` with its own key names; the timeout is in milliseconds (docs/contract/configuration.md,
 * docs/contract/governance.md).
 */
export const alignmentSchema = z.object({
  enabled: z.boolean().default(false).describe('Switches the layer on.'),
  provider: z
    .enum(['openai', 'openai-compatible', 'google', 'ollama', 'local'])
    .default('openai')
    .describe('Provider of the embeddings; `local` needs no key and is weak.'),
  model: name
    .default('text-embedding-3-small')
    .meta({ description: 'Model of the embeddings.', example: 'text-embedding-3-large' }),
  base_url: z.string().optional().meta({
    description: 'Address of the provider; required for `openai-compatible`.',
    example: 'http://127.0.0.1:8090/v1',
  }),
  api_key_env: variableName.optional().meta({
    description: "Variable with the key; the provider's default if omitted.",
    example: 'EMBEDDER_KEY',
  }),
  timeout: positiveDuration.prefault('5s').meta({
    description: 'Timeout of one request; a call without an answer is denied.',
    example: '2s',
  }),
  threshold: score.default(0.5).meta({
    description: 'Score below which a call is warned of in the audit log.',
    example: 0.6,
  }),
  hard_threshold: score
    .default(0.3)
    .meta({ description: 'Score below which a call is denied.', example: 0.2 }),
  drift: driftSchema.optional().describe('Monitors the scores of a task and logs a drift.'),
});

/** Settings of intent alignment; the timeout is in milliseconds. */
export type AlignmentSettings = z.output<typeof alignmentSchema>;
