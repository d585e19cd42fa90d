import { isFinal, type Task } from '../../machines/domain/task.ts';
import { editWords } from '../../machines/governance/edit-words.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { type WaitMark, waitsMark } from '../../machines/task/wait-mark.ts';
import { challengeOf } from '../wire/challenge.ts';
import { waitOf } from './call-progress.ts';

/** A call's result in MCP format. */
export interface CallAnswer {
  [key: string]: unknown;
  content: ({ type: 'text'; text: string } | JsonObject)[];
  structuredContent?: JsonObject;
  isError?: boolean;
  _meta: { [key: string]: unknown; task_id: string; [waitsMark]?: WaitMark | null };
}

/**
 * Formats a call's task: its result if the task is final, or instructions to ask again while the call is held. Throws
 * RpcError for a call that failed because of missing assurance.
 */
export function presentCall(task: Task, howToAsk: (task: Task) => string): CallAnswer {
  if (!isFinal(task.state)) return presentHeld(task, howToAsk(task));
  const challenge = challengeOf(task);
  if (challenge !== null) throw challenge.rpc;
  // A rejection reported to the model completes the task, but the call has not run.
  const isRejected = task.settled?.decision === 'reject';
  const { structured, parts = [] } = task.extras ?? {};
  const text = task.text ?? '';
  const edits = (task.decided ?? []).flatMap(({ edit }) => (edit === undefined ? [] : [edit]));
  const told = edits.map((edit) => ({ type: 'text', text: editWords(edit) }) as const);
  return {
    content: [
      ...(text === '' && parts.length > 0 ? [] : [{ type: 'text', text } as const]),
      ...parts,
      ...told,
    ],
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    ...(task.state === 'completed' && !isRejected ? {} : { isError: true }),
    _meta: { task_id: task.id },
  };
}

function presentHeld(task: Task, howToAsk: string): CallAnswer {
  const wait = waitOf(task);
  const until = wait === null || wait.until === null ? '' : ` until ${wait.until}`;
  const state =
    wait === null
      ? `The call was approved and runs as task ${task.id}.`
      : `The call has not run yet. It waits for ${wait.for}${until} as task ${task.id}.`;
  return {
    content: [{ type: 'text', text: `${state} ${howToAsk}` }],
    _meta: { task_id: task.id, [waitsMark]: wait },
  };
}
