import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import { type WaitMark, waitsMark } from '../../machines/task/wait-mark.ts';
import { challengeOf } from '../wire/challenge.ts';
import { waitOf } from './call-progress.ts';

/** What a call came to, in the words of MCP. */
export interface CallAnswer {
  [key: string]: unknown;
  content: ({ type: 'text'; text: string } | JsonObject)[];
  structuredContent?: JsonObject;
  isError?: boolean;
  _meta: { task_id: string; [waitsMark]?: WaitMark | null };
}

/**
 * Presents the task of a call: what it came to once it is final, or how to ask again while it is held. Throws RpcError for
 * one that failed for want of assurance.
 */
export function presentCall(task: Task, howToAsk: (task: Task) => string): CallAnswer {
  if (!isFinal(task.state)) return presentHeld(task, howToAsk(task));
  const challenge = challengeOf(task);
  if (challenge !== null) throw challenge.rpc;
  // Where a rejection is told to the model, the call has been answered and not run all the same.
  const isRejected = task.settled?.decision === 'reject';
  const { structured, parts = [] } = task.extras ?? {};
  const text = task.text ?? '';
  return {
    content: [...(text === '' && parts.length > 0 ? [] : [{ type: 'text', text }]), ...parts],
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    ...(task.state === 'completed' && !isRejected ? {} : { isError: true }),
    _meta: { task_id: task.id },
  };
}

function presentHeld(task: Task, howToAsk: string): CallAnswer {
  const wait = waitOf(task);
  const until = wait === null || wait.until === null ? '' : ` until ${wait.until}`;
  const stands =
    wait === null
      ? `The call was approved and runs as task ${task.id}.`
      : `The call has not run yet. It waits for ${wait.for}${until} as task ${task.id}.`;
  return {
    content: [{ type: 'text', text: `${stands} ${howToAsk}` }],
    _meta: { task_id: task.id, [waitsMark]: wait },
  };
}
