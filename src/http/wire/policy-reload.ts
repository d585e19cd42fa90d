import { z } from 'zod';
import { errorCode } from './problem.ts';

/** The answer of `POST /policy/reload`. */
export const policyReloaded = z
  .object({
    status: z
      .enum(['applied', 'unchanged'])
      .describe('`unchanged`: the policy of the files was in force already.'),
    policy_sha256: z.string().describe('Digest of the policy in force.'),
    previous_sha256: z.string().describe('Digest of the replaced policy.').exactOptional(),
    restart: z
      .array(z.string())
      .describe('Settings that differ in the files and apply when the agent is restarted.'),
  })
  .meta({ id: 'PolicyReloaded' });

/** The refusal of `POST /policy/reload`. */
export const policyUnusable = z
  .object({
    error: z.string(),
    code: errorCode,
    problems: z.array(z.string()).describe('Each with file, line and column.'),
  })
  .meta({ id: 'PolicyUnusable' });

export type PolicyReloaded = z.infer<typeof policyReloaded>;
