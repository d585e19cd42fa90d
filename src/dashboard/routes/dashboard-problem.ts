import { AgentStateError, LineError } from '../../actors/workspace/workspace.ts';
import type { SkillChangedJson } from '../../http/wire/dashboard/builder-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { SkillConflictError, SkillInvalidError } from '../builder/skill-file-error.ts';

/** Statuses by the code of an error. The classes are not imported, because services are loaded at their first call. */
const statusOf: ReadonlyMap<unknown, number> = new Map([
  ['agent_invalid', 400],
  ['agent_taken', 409],
  ['agent_unwritable', 500],
  ['config_unusable', 409],
  ['passphrase_missing', 409],
  ['secrets_locked', 409],
  ['secrets_unusable', 409],
  ['settings_refused', 400],
  ['sign_in_refused', 400],
  ['skill_exists', 409],
  ['skill_missing', 404],
  ['skill_refused', 400],
  ['skill_unusable', 409],
  ['variable_refused', 400],
  ['yaml_unusable', 400],
]);

/** Converts an error of the dashboard's services to a Problem; other errors are unchanged. */
export function dashboardProblem(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const { message } = error;
  if (error instanceof LineError) {
    return new Problem(error.code === 'slow' ? 504 : 502, { error: message });
  }
  if (error instanceof AgentStateError) {
    if (error.code === 'passphrase_needed') {
      return new Problem(400, { error: message, needs_passphrase: true });
    }
    return new Problem(error.code === 'not_running' ? 400 : 409, { error: message });
  }
  if (error instanceof SkillInvalidError) return problem(400, { error: message, ...error.check });
  if (error instanceof SkillConflictError) {
    const status = error.code === 'skill_changed' ? 412 : 409;
    const body: SkillChangedJson = { error: message, name: error.skill, skill: error.now };
    return problem(status, body);
  }
  const status = statusOf.get((error as NodeJS.ErrnoException).code);
  return status === undefined ? error : new Problem(status, { error: message });
}

/** The wire types of the page are JSON, which the compiler cannot see of an interface. */
function problem(status: number, body: { error: string }): Problem {
  return new Problem(status, body as Problem['body']);
}
