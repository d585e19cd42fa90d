import { heardHistory } from '../../machines/conversation/session.ts';
import { saidBy } from '../../machines/task/follow-up.ts';
import type { TaskLimits } from '../../machines/task/limits.ts';
import { ownerOfNextRun } from '../../machines/task/task-access.ts';
import type { TaskInput } from '../../machines/task/task-input.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { StoredTask } from '../records/records.ts';
import { nothingHeard, type Sessions } from './sessions.ts';
import type { TaskRequest } from './task-request.ts';

export interface RunInputPorts {
  clock: Clock;
  ids: Ids;
  limits: TaskLimits;
  /** Effect of a tool error: it ends the run, or is a result for the model. */
  onToolError: TaskInput['onToolError'];
  sessions: Pick<Sessions, 'heard' | 'ran'>;
}

/** Returns the input of a task's run; a further run continues the task's history. */
export async function runInputOf(
  id: string,
  request: TaskRequest,
  before: StoredTask | undefined,
  { clock, ids, limits, onToolError, sessions }: RunInputPorts,
): Promise<TaskInput> {
  const { contextId, requester, calls, hold } = request;
  // A hold has no model that could read the session.
  const hearsSession = before === undefined && contextId !== undefined && hold === undefined;
  const session = hearsSession ? await sessions.heard(contextId, requester) : nothingHeard;
  return {
    id,
    contextId: contextId ?? before?.task.contextId ?? ids.next(),
    correlationId: request.correlationId,
    tags: request.tags ?? {},
    trace: request.trace ?? null,
    requester,
    ...(before === undefined ? {} : { owner: ownerOfNextRun(before.task, requester) }),
    surface: request.surface ?? 'legacy',
    session: session.messages,
    ran: before === undefined ? session.ran : await sessions.ran(before.task),
    history: before === undefined ? [] : heardHistory(before.task),
    leftOut: before?.task.leftOut ?? 0,
    ...(before?.task.decided === undefined ? {} : { decided: before.task.decided }),
    request: saidBy(request.message, requester),
    ...(calls === undefined ? {} : { calls }),
    ...(hold === undefined ? {} : { hold }),
    hasModel: calls === undefined,
    limits,
    // Without a model, the caller receives the error of a tool.
    onToolError: calls === undefined ? onToolError : 'fail',
    settled: before?.task.settled ?? null,
    createdAt: before?.task.createdAt ?? clock.now(),
  };
}
