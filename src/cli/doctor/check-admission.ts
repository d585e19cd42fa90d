import {
  AdmissionError,
  AdmissionSettingsError,
  type AdmissionSetup,
  admissionFromEnvironment,
  askPlatform,
  type PlatformReply,
} from '../../actors/access/access.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding, Subject } from './check.ts';

/** Maximum tolerated clock skew in seconds. */
const tolerable = 30;

/**
 * Checks that the admission platform responds, if configured, and reports its answer for this agent. Without an agent
 * (`null`), the platform is not asked.
 */
export async function checkAdmission(
  { env }: Pick<Subject, 'env'>,
  agentId: string | null,
): Promise<Finding> {
  try {
    return await examine(admissionFromEnvironment(env), agentId);
  } catch (error) {
    if (error instanceof AdmissionSettingsError) return { status: 'fail', message: error.message };
    if (!(error instanceof AdmissionError)) throw error;
    return {
      status: 'fail',
      message: `${error.message}, so every invocation is admitted`,
      fix: 'check SERVICE_ADMISSION_URL, SERVICE_PLATFORM_TOKEN and the way to the platform',
    };
  }
}

async function examine(
  { settings, warning }: AdmissionSetup,
  agentId: string | null,
): Promise<Finding> {
  if (warning !== null) return { status: 'warn', message: warning };
  if (settings === null) return { status: 'pass', message: 'admission is off' };
  if (agentId === null) {
    return {
      status: 'warn',
      message: 'the platform is not asked, since service.yaml is not valid',
    };
  }
  const reply = await askPlatform(settings, agentId, new AbortController().signal);
  const skew = skewOf(reply);
  if (skew > tolerable) {
    return {
      status: 'warn',
      message: `the clock here and that of the platform differ by ${skew} s`,
      fix: 'set the clock of this machine by NTP',
    };
  }
  return describe(reply);
}

function describe({ answer }: PlatformReply): Finding {
  if (answer.decision === 'admit') {
    return { status: 'pass', message: 'the platform admits new invocations' };
  }
  const { reason, scope, window, resetAt } = answer;
  const details = [reason, scope, window, resetAt && `until ${resetAt}`].filter(Boolean);
  const why = details.length === 0 ? '' : `: ${details.join(', ')}`;
  return {
    status: 'warn',
    message: plainLine(`the platform denies new invocations${why}`),
    fix: 'raise the limit on the platform, or wait',
  };
}

/** Returns whole seconds; 0 if the platform sends no date. */
function skewOf({ date }: PlatformReply): number {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) ? 0 : Math.round(Math.abs(Date.now() - theirs) / 1_000);
}
