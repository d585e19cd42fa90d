import { AgentStateError, LineError } from '../../actors/workspace/workspace.ts';
import type { ErrorCode } from '../../http/wire/error-codes.ts';
import { Problem } from '../../http/wire/problem.ts';
import type { JsonObject } from '../../machines/json.ts';
import { SkillConflictError, SkillInvalidError } from '../builder/skill-file-error.ts';

/** The errors of services whose codes are those of the wire. The classes are not imported, because services are loaded at their first call. */
const served: ReadonlySet<unknown> = new Set<ErrorCode>([
  'agent_invalid',
  'agent_taken',
  'agent_unwritable',
  'config_unusable',
  'passphrase_missing',
  'secrets_locked',
  'secrets_unusable',
  'settings_refused',
  'sign_in_refused',
  'skill_exists',
  'skill_missing',
  'skill_refused',
  'skill_unusable',
  'variable_refused',
  'yaml_unusable',
]);

const ofState = {
  not_running: 'agent_not_running',
  passphrase_needed: 'passphrase_required',
  wrong_state: 'agent_busy',
} as const satisfies Record<AgentStateError['code'], ErrorCode>;

/** Converts an error of the dashboard's services to a Problem; other errors are unchanged. */
export function dashboardProblem(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const { message } = error;
  if (error instanceof LineError) {
    return new Problem(error.code === 'slow' ? 'agent_timeout' : 'agent_unreachable', message);
  }
  if (error instanceof AgentStateError) {
    const isLocked = error.code === 'passphrase_needed';
    return new Problem(ofState[error.code], message, isLocked ? { needs_passphrase: true } : {});
  }
  if (error instanceof SkillInvalidError) return problem('skill_invalid', message, error.check);
  if (error instanceof SkillConflictError) {
    return problem(error.code, message, { name: error.skill, skill: error.now });
  }
  const { code, step = null } = error as NodeJS.ErrnoException & { step?: string | null };
  const more = step === null ? {} : { step };
  return served.has(code) ? new Problem(code as ErrorCode, message, more) : error;
}

/** The wire types of the page are JSON, which the compiler cannot see of an interface. */
function problem(code: ErrorCode, error: string, more: object): Problem {
  return new Problem(code, error, more as JsonObject);
}
