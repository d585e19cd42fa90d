import * as z from 'zod';
import { taskAccesses } from '../../machines/task/task-access.ts';
import { duration, name, positiveDuration } from './schema-value.ts';

const rateLimitSchema = z.object({
  read_rps: z.number().positive().default(50),
  read_burst: z.int().min(1).default(200),
  write_rps: z.number().positive().default(20),
  write_burst: z.int().min(1).default(100),
  cancel_exempt: z.boolean().default(true),
  trusted_proxies: z.array(name).default([]),
});

/** `server`: how the daemon is called. */
export const serverSchema = z.object({
  public_url: z.string().default(''),
  cors_origins: z.array(name).default([]),
  write_timeout: duration.prefault('0s'),
  task_access: z.enum(taskAccesses).default('org'),
  a2a_hold: z.boolean().default(false),
  rate_limit: rateLimitSchema.prefault({}),
});

/** `egress`: what may be reached, and how scripts are kept to it (contract section 11). */
export const egressSchema = z.object({
  mode: z.enum(['deny-all', 'allowlist', 'dev-open']).default('allowlist'),
  allowed_domains: z.array(name).default([]),
  allow_private_ips: z.boolean().default(false),
  allowed_private_cidrs: z.array(name).default([]),
  allowed_private: z.array(name).default([]),
  sandbox: z.enum(['env', 'bwrap', 'auto']).default('auto'),
  writable: z.array(name).default([]),
});

const tracingSchema = z.object({
  enabled: z.boolean().default(false),
  endpoint: z.string().default(''),
  service_name: z.string().default(''),
  sampler: name.default('parentbased_always_on'),
});

/** `observability`. */
export const observabilitySchema = z.object({ tracing: tracingSchema.prefault({}) });

/** `store`: where tasks are kept, and for how long once they have ended. */
export const storeSchema = z.object({
  kind: z.enum(['sqlite']).default('sqlite'),
  path: name.default('.service/tasks.db'),
  retention: positiveDuration.prefault('7d'),
});

/** `secrets` (contract section 16). */
export const secretsSchema = z.object({
  providers: z.array(z.enum(['encrypted-file', 'env'])).default(['encrypted-file', 'env']),
  path: name.default('.service/secrets.enc'),
});
