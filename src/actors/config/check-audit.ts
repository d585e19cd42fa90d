import { assumedValue } from '../assumed-value.ts';
import { openAuditKeys, SigningKeyError } from '../records/records.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks the signing settings of the audit log: the key in its variable, the older keys, and a hash chain, which
 * signatures require (docs/contract/audit.md).
 */
export function checkAudit(
  { audit: { sign, signing, chain } }: ServiceConfig,
  env: Environment,
): Finding[] {
  const isSigned = sign || signing.enabled;
  return [...(isSigned && !chain ? [unchained] : []), ...keyFindings(signing, env)];
}

const unchained = warningAt(
  ['audit', 'chain'],
  'without the chain a removed line is not noticed, and audit verify refuses the log; leave it on',
);

function keyFindings(signing: ServiceConfig['audit']['signing'], env: Environment): Finding[] {
  const isAssumed = env[signing.key_env] === assumedValue;
  const checked = { ...signing, enabled: signing.enabled && !isAssumed };
  try {
    openAuditKeys({ sign: false, signing: checked }, { env, folder: null });
    return [];
  } catch (error) {
    const key = error instanceof SigningKeyError ? 'key_env' : 'kid';
    return [errorAt(['audit', 'signing', key], (error as Error).message)];
  }
}
