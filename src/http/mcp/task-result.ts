import { isTaskId } from '../../machines/task/task-id.ts';
import type { RequestState } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import type { CallExtra, CallPorts } from './call-ports.ts';
import { sendProgress } from './call-progress.ts';
import { received } from './call-tool.ts';
import { calledIn } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';
import { type CallAnswer, presentCall } from './present-call.ts';
import { howToAskFor } from './task-result-tool.ts';
import { waitForCall } from './wait-for-call.ts';

/** Waits for a call of the same caller that was answered while held. Rejects like `waitForCall`. */
export async function taskResult(
  face: McpFace,
  ports: CallPorts,
  { state, gone }: { state: RequestState; gone: AbortSignal },
  { args, extra }: { args: unknown; extra: CallExtra },
): Promise<CallAnswer> {
  const id = fieldOf(args, 'task_id');
  const found = isTaskId(id) ? await state.tasks.findOwn(id) : undefined;
  const call = found && calledIn(found);
  if (found === undefined || call === null || call === undefined) {
    const text = 'there is no call with this task_id; take the one that the call was answered with';
    return { content: [{ type: 'text', text }], isError: true, _meta: { task_id: String(id) } };
  }
  const rest = sendProgress(ports.beats, state.tasks, found.id, extra);
  const limit = extra._meta?.progressToken === undefined ? face.answerWithin || null : null;
  const signal = AbortSignal.any([gone, extra.signal]);
  const patience = { clock: ports.clock, held: null, running: limit };
  const leave = ports.waiting.enter(found.id);
  const task = await waitForCall(state.tasks, found.id, signal, patience).finally(() => {
    leave();
    rest();
  });
  if (!signal.aborted) await received(state, task, call, ports.log);
  return presentCall(task, ({ id: asked }) => howToAskFor(face, asked));
}
