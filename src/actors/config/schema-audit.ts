import * as z from 'zod';
import { name, positiveDuration, variableName } from './schema-value.ts';

const signingSchema = z.object({
  enabled: z.boolean().default(false),
  key_env: variableName.default('SERVICE_AUDIT_SIGNING_KEY'),
  kid: name.default('service-audit-v1'),
});

const captureSchema = z.object({
  tool_args: z.boolean().default(false),
  tool_result: z.boolean().default(false),
  llm_messages: z.boolean().default(false),
  max_bytes: z.int().min(1).default(16_384),
});

/** A smaller file would be little more than its first and its last line. */
const smallestFile = 65_536;

const rotationSchema = z.object({
  max_bytes: z
    .int()
    .refine((bytes) => bytes === 0 || bytes >= smallestFile, {
      error: `this must be 0 for one file without end, or at least ${smallestFile}`,
    })
    .default(67_108_864),
  daily: z.boolean().default(false),
  keep: z.int().min(0).default(0),
});

const sinkSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stdout') }),
  z.object({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/u, error: 'this must be a URL with http or https' }),
    token_env: variableName.optional(),
    batch: z.int().min(1).max(10_000).default(500),
    timeout: positiveDuration.prefault('10s'),
  }),
  z.object({ type: z.literal('unix'), path: name }),
]);

/** `audit` (contract section 10). */
export const auditSchema = z.object({
  path: name.default('.service/audit.ndjson'),
  chain: z.boolean().default(true),
  signing: signingSchema.prefault({}),
  capture: captureSchema.prefault({}),
  rotation: rotationSchema.prefault({}),
  sinks: z.array(sinkSchema).default([]),
});
