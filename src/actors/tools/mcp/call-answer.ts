import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import { type CallResult, callResult } from './call-result.ts';
import { type ServerTask, serverTask } from './server-task.ts';

/** A server's answer to a call: its result, a task that continues the call, or questions to answer first. */
export type CallAnswer =
  | { kind: 'result'; result: CallResult }
  | { kind: 'task'; task: ServerTask }
  | { kind: 'questions' };

/** Reads the answer to a call. In MCP 2025-11-25 only a call that requested a task receives one. Throws ZodError. */
export function readAnswer(
  said: unknown,
  { isModern, asTask }: { isModern: boolean; asTask: boolean },
): CallAnswer {
  const answer = said as JsonValue;
  if (isJsonObject(answer)) {
    const { resultType, task = null } = answer;
    if (isModern && resultType === 'task') return { kind: 'task', task: serverTask.parse(answer) };
    if (isModern && resultType === 'input_required') return { kind: 'questions' };
    if (asTask && isJsonObject(task)) return { kind: 'task', task: serverTask.parse(task) };
  }
  return { kind: 'result', result: callResult.parse(answer) };
}
