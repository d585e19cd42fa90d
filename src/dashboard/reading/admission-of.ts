import { AdmissionSettingsError, admissionFromEnvironment } from '../../actors/access/access.ts';
import { lastRunLog } from '../../actors/workspace/workspace.ts';
import type { AdmissionResultJson, PolicyJson } from '../../http/wire/dashboard/policy-json.ts';
import { parseJson } from '../../machines/json.ts';
import type { AuditReader } from './audit-reader.ts';

/** Timeout in milliseconds for finding the last refusal in the audit log. */
const patience = 2_000;

interface AdmissionSaid {
  admission: PolicyJson['admission'];
  /** The agent's startup warnings. */
  warnings: string[];
}

/**
 * Returns whether admission is on and its last result. Reads the agent's log of its last background start. Without such
 * a log it reads the environment, which may differ from a running agent's environment.
 */
export async function admissionOf(
  directory: string,
  env: NodeJS.ProcessEnv,
  audit: Pick<AuditReader, 'page'>,
): Promise<AdmissionSaid> {
  const { settings, warning } = settingsIn(env);
  const noted = notedIn(lastRunLog(directory));
  const denied = await lastDenial(directory, audit);
  const last = [noted.failure, denied]
    .filter((one) => one !== null)
    .toSorted((one, other) => other.at.localeCompare(one.at))[0];
  const warnings = new Set([warning, noted.warning].filter((one) => one !== null));
  return {
    admission: {
      enabled: noted.enabled ?? settings !== null,
      ...(settings === null ? {} : { url: settings.url }),
      ...(last === undefined ? {} : { last }),
    },
    warnings: [...warnings],
  };
}

function settingsIn(env: NodeJS.ProcessEnv) {
  try {
    return admissionFromEnvironment(env);
  } catch (error) {
    if (error instanceof AdmissionSettingsError) return { settings: null, warning: error.message };
    throw error;
  }
}

interface Noted {
  enabled: boolean | null;
  warning: string | null;
  failure: AdmissionResultJson | null;
}

/** Reads the admission entries of the latest process in a log. */
function notedIn(lines: readonly string[]): Noted {
  const noted: Noted = { enabled: null, warning: null, failure: null };
  for (const { msg, time, error } of lines.flatMap(recordIn)) {
    if (msg.startsWith('admission: on;')) noted.enabled = true;
    if (msg.startsWith('admission: off,')) {
      noted.enabled = false;
      noted.warning = msg;
    }
    if (msg !== 'admission: call failed, admitting') continue;
    noted.enabled = true;
    noted.failure = { result: 'failed', at: time, says: error };
  }
  return noted;
}

function recordIn(line: string): { msg: string; time: string; error: string }[] {
  if (!line.startsWith('{')) return [];
  const { msg, time, error } = Object(parseJson(line)) as Record<string, unknown>;
  if (typeof msg !== 'string' || typeof time !== 'string') return [];
  return [{ msg, time, error: typeof error === 'string' ? error : '' }];
}

/** The audit page reports an unreadable log. */
async function lastDenial(
  directory: string,
  audit: Pick<AuditReader, 'page'>,
): Promise<AdmissionResultJson | null> {
  const wanted = { event: 'task_admission_denied', task: '', decision: '' };
  const query = { limit: 1, before: null, wanted, isVerified: false };
  try {
    const { events } = await audit.page(directory, query, AbortSignal.timeout(patience));
    const { ts, fields } = JSON.parse(events.at(-1)?.line ?? '{}') as {
      ts?: unknown;
      fields?: { reason?: unknown };
    };
    if (typeof ts !== 'string') return null;
    const reason = fields?.reason;
    return { result: 'denied', at: ts, says: typeof reason === 'string' ? reason : '' };
  } catch {
    return null;
  }
}
