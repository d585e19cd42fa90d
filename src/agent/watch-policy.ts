import type { ServiceConfig } from '../actors/config/config.ts';
import type { Log } from '../actors/ports.ts';
import type { Skill } from '../actors/tools/tools.ts';
import type { DaemonEvent } from './open-records.ts';
import { policyDigest } from './policy-digest.ts';

/** What comparing the files of a running agent with its policy needs. */
export interface PolicyWatchParts {
  /** The digest of the policy in force. */
  inForce: string;
  /** Writes an event to the audit log. */
  record: (event: DaemonEvent) => Promise<void>;
  log: Log;
}

/**
 * Returns what takes the files of an agent each time they have changed: rules that differ from those in force are
 * reported in the log and the audit log, once, since the agent applies them at its next start alone.
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
