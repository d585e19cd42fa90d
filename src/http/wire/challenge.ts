import type { Task } from '../../machines/task/task.ts';
import { RpcError, rpcCodes } from './json-rpc.ts';
import { Problem } from './problem.ts';
import { stepUpOf } from './task-json.ts';

/** The challenge to sign in again at a higher level, for each transport (document 1 section 5.1). */
export interface Challenge {
  rest: Problem;
  rpc: RpcError;
}

/** Returns the challenge of a task that failed for want of assurance; `null` for every other task. */
export function challengeOf(task: Task): Challenge | null {
  const stepUp = stepUpOf(task);
  if (stepUp === null) return null;
  const body = { error: 'step_up_required', ...stepUp };
  const authenticate = `Bearer error="step_up_required", acr_values="${stepUp.required_acr}"`;
  return {
    rest: new Problem(401, body, { 'WWW-Authenticate': authenticate }),
    rpc: new RpcError(rpcCodes.stepUpRequired, 'step_up_required', null, body),
  };
}
