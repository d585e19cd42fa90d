import { openAuditKeys, SigningKeyError } from '../records/records.ts';
import type { Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks the signing settings of the audit log: the key in its variable, the older keys, and a hash chain, which
 * signatures require (docs/contract/audit.md).
 */
export function checkAudit(
  { audit: { signing, chain } }: ServiceConfig,
  env: Environment,
): Finding[] {
  return [...(signing.enabled && !chain ? [unchained] : []), ...keyFindings(signing, env)];
}

const unchained: Finding = {
  path: ['audit', 'chain'],
  message:
    'without the chain a removed line is not noticed, and audit verify refuses the log; leave it on',
  severity: 'warning',
};

function keyFindings(signing: ServiceConfig['audit']['signing'], env: Environment): Finding[] {
  try {
    openAuditKeys(signing, env);
    return [];
  } catch (error) {
    const key = error instanceof SigningKeyError ? 'key_env' : 'kid';
    const { message } = error as Error;
    return [{ path: ['audit', 'signing', key], message, severity: 'error' }];
  }
}
