import type { Task } from '../../machines/domain/task.ts';
import { RpcError, rpcCodes } from './json-rpc.ts';
import { Problem } from './problem.ts';
import { stepUpOf } from './task.ts';

/** The response sent in place of a failed task, for each transport (docs/contract/step-up.md). */
export interface Challenge {
  rest: Problem;
  rpc: RpcError;
}

/** Seconds after which a caller with too many waiting calls may retry. */
const whenOneMayBeDecided = 60;

/**
 * Returns the challenge of a task that failed because of missing assurance, or the refusal of a task that failed
 * because too many calls of its caller are waiting; `null` for every other task.
 */
export function challengeOf(task: Task): Challenge | null {
  const { failure } = task;
  if (failure?.kind === 'denied' && failure.isOverLimit === true) {
    const body = { error: failure.text, task_id: task.id };
    const headers = { 'Retry-After': String(whenOneMayBeDecided) };
    const rpc = new RpcError(rpcCodes.refused, failure.text, null, body);
    return { rest: new Problem('too_many_waiting_calls', failure.text, body, headers), rpc };
  }
  const stepUp = stepUpOf(task);
  if (stepUp === null) return null;
  const error = 'step_up_required';
  const body = { error, ...stepUp };
  const authenticate = `Bearer error="step_up_required", acr_values="${stepUp.required_acr}"`;
  return {
    rest: new Problem(error, error, body, { 'WWW-Authenticate': authenticate }),
    rpc: new RpcError(rpcCodes.stepUpRequired, error, null, body),
  };
}
