import type { Task } from '../../machines/task/task.ts';
import { challengeOf } from '../wire/challenge.ts';

/** What a call came to, in the words of MCP. */
export interface CallAnswer {
  [key: string]: unknown;
  content: { type: 'text'; text: string }[];
  isError?: boolean;
  _meta: { task_id: string };
}

/** Presents the task of a call once it is final. Throws RpcError for one that failed for want of assurance. */
export function presentCall(task: Task): CallAnswer {
  const challenge = challengeOf(task);
  if (challenge !== null) throw challenge.rpc;
  // Where a rejection is told to the model, the call has been answered and not run all the same.
  const isRejected = task.settled?.decision === 'reject';
  return {
    content: [{ type: 'text', text: task.text ?? '' }],
    ...(task.state === 'completed' && !isRejected ? {} : { isError: true }),
    _meta: { task_id: task.id },
  };
}
