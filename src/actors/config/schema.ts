import * as z from 'zod';
import { auditSchema } from './schema-audit.ts';
import { authSchema } from './schema-auth.ts';
import {
  egressSchema,
  observabilitySchema,
  secretsSchema,
  serverSchema,
  storeSchema,
} from './schema-daemon.ts';
import { modelSchema } from './schema-model.ts';
import { securitySchema } from './schema-security.ts';
import { jsonObject, name, optionalTool } from './schema-value.ts';

const builtinTools = [
  'http_request',
  'web_search',
  'web_fetch',
  'json_query',
  'csv_parse',
  'datetime_now',
  'uuid_generate',
  'math_calculate',
  'file_read',
  'file_write',
  'file_edit',
  'glob_search',
  'grep_search',
  'cli_execute',
] as const;

const tool = z.object({
  name,
  config: jsonObject.default({}),
  idempotent: z.boolean().default(false),
});

const credential = z.object({
  tool: name,
  provider: z.enum(['static', 'sts_assume_role']),
  spec: jsonObject.default({}),
  optional: optionalTool,
});

/**
 * `service.yaml` as a whole (contract section 3), in its own key names. Defaults are filled in and
 * durations are milliseconds; `secrets` stays undefined unless written.
 */
export const serviceSchema = z.object({
  agent_id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, {
      error: 'the agent id must be kebab-case, such as refund-desk',
    }),
  version: name.default('0.0.0'),
  description: z.string().default(''),
  model: modelSchema.prefault({}),
  builtin_tools: z.array(z.enum(builtinTools)).default([]),
  tools: z.array(tool).default([]),
  skills: z.object({ path: name.default('SKILL.md') }).prefault({}),
  channels: z.array(name).default([]),
  egress: egressSchema.prefault({}),
  workflow_propagation: z.object({ allowed_hosts: z.array(name).default([]) }).prefault({}),
  card: z.object({ security_schemes: jsonObject.default({}) }).prefault({}),
  auth: authSchema.prefault({}),
  server: serverSchema.prefault({}),
  security: securitySchema.prefault({}),
  credentials: z.array(credential).default([]),
  audit: auditSchema.prefault({}),
  observability: observabilitySchema.prefault({}),
  store: storeSchema.prefault({}),
  secrets: secretsSchema.optional(),
});

/** The configuration of an agent, checked and complete. */
export type ServiceConfig = z.output<typeof serviceSchema>;
