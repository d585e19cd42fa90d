import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { type CallResult, callResult } from './call-result.ts';
import { type ServerTask, serverTask } from './server-task.ts';

/** A server's answer to a call: its result, a task that continues the call, or questions to answer first. */
export type CallAnswer =
  | { kind: 'result'; result: CallResult }
  | { kind: 'task'; task: ServerTask }
  | ServerQuestions;

/** What a server of MCP 2026-07-28 asks before it continues. */
export interface ServerQuestions {
  kind: 'questions';
  requests: JsonObject;
  /** Returned to the server unchanged; absent for none. */
  state?: string;
}

/** Maximum characters of the state that a server has returned to it. */
const longestState = 64 * 1024;

/** Reads the answer to a call. In MCP 2025-11-25 only a call that requested a task receives one. Throws ZodError. */
export function readAnswer(
  said: unknown,
  { isModern, asTask }: { isModern: boolean; asTask: boolean },
): CallAnswer {
  const answer = said as JsonValue;
  if (isJsonObject(answer)) {
    const { resultType, task = null } = answer;
    if (isModern && resultType === 'task') return { kind: 'task', task: serverTask.parse(answer) };
    if (isModern && resultType === 'input_required') return questionsIn(answer);
    if (asTask && isJsonObject(task)) return { kind: 'task', task: serverTask.parse(task) };
  }
  return { kind: 'result', result: callResult.parse(answer) };
}

function questionsIn({ inputRequests = {}, requestState }: JsonObject): ServerQuestions {
  const requests = isJsonObject(inputRequests) ? inputRequests : {};
  const state = z.string().max(longestState).optional().parse(requestState);
  return { kind: 'questions', requests, ...(state === undefined ? {} : { state }) };
}
