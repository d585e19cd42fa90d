import type { ServiceConfig } from '../actors/config/config.ts';
import type { Log } from '../actors/ports/log.ts';
import type { Skill } from '../actors/tools/tools.ts';
import type { DaemonEvent } from './open-records.ts';
import { policyDigest } from './policy-digest.ts';

export interface PolicyWatchParts {
  /** The digest of the policy in force. */
  inForce: string;
  record: (event: DaemonEvent) => Promise<void>;
  log: Log;
}

/**
 * Returns a function to call with the agent's files after each change. Rules that differ from the policy in force are
 * reported once in the log and the audit log, because the agent applies them only at its next start.
 */
export function watchPolicy({ inForce, record, log }: PolicyWatchParts) {
  let reported = inForce;
  return function compare(config: ServiceConfig, skills: readonly Skill[]): void {
    const inFiles = policyDigest(config, skills);
    if (inFiles === reported) return;
    reported = inFiles;
    if (inFiles === inForce) {
      log.info({}, 'policy: service.yaml has the rules in force again');
    } else {
      log.warn(
        {},
        'policy: service.yaml has other rules than those in force; restart the agent to apply them',
      );
    }
    const fields = { policy_sha256: inForce, file_sha256: inFiles };
    record({ event: 'policy_file_changed', fields }).catch((error: unknown) => {
      log.error({ error }, 'policy: a change of its file could not be recorded');
    });
  };
}
