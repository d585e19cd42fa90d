import { cutToRunes } from '../text.ts';
import type { Deferral, RanCall, Task, ToolCall } from './task.ts';
import type { ToolOutcome } from './task-events.ts';
import type { TaskContext } from './task-input.ts';

/** Most calls of earlier runs that a run carries. */
const mostBefore = 50;

/** How much of the arguments of a call is kept, in code points. */
const longestArguments = 300;

/** Returns the calls of a run with its current call among them, which starts at a time in epoch milliseconds. */
export function withStart(context: TaskContext, call: ToolCall, at: number): RanCall[] {
  const { ran, now, held } = context;
  if (ran.some(({ callId }) => callId === call.id)) {
    return at === 0 ? ran : changed(ran, call, (one) => ({ ...one, at }));
  }
  const { id: callId, tool, argsSha256 } = call;
  const args = cutToRunes(JSON.stringify(call.args), longestArguments);
  const started = { tool, callId, argsSha256, args, outcome: 'unknown', at: at || now } as const;
  const isReleased = held?.isReleased === true && held.deferral.id === callId;
  const approver = isReleased ? context.settled?.approver : undefined;
  return [...ran, approver === undefined ? started : { ...started, approver }];
}

/** Returns the calls of a run once one has ended; a call that was barred never ran. */
export function withOutcome(ran: RanCall[], call: ToolCall, { kind }: ToolOutcome): RanCall[] {
  if (kind === 'barred') return ran.filter(({ callId }) => callId !== call.id);
  const outcome = kind === 'returned' ? 'succeeded' : kind;
  return changed(ran, call, (one) => ({ ...one, outcome }));
}

/** Returns the latest call that started with the same tool and arguments; `null` when none did. */
export function earlierEqual(
  ran: readonly RanCall[],
  { id, tool, argsSha256 }: ToolCall,
): NonNullable<Deferral['repeats']> | null {
  const equal = ran.findLast(
    (one) => one.callId !== id && one.tool === tool && one.argsSha256 === argsSha256,
  );
  if (equal === undefined) return null;
  const { callId, at, approver } = equal;
  return { callId, at, ...(approver === undefined ? {} : { approver }) };
}

/** Returns the calls that the next run of a task carries as those of earlier runs: the newest. */
export function ranUntilNow({ ran = [], ranBefore = [] }: Task): RanCall[] {
  return newest([...ranBefore, ...ran]);
}

/** Returns the newest calls of a session's tasks, oldest first. */
export function ranInSession(tasks: readonly Task[]): RanCall[] {
  const ran = tasks.flatMap((task) => task.ran ?? []);
  return newest(ran.toSorted((one, other) => one.at - other.at));
}

function newest(ran: RanCall[]): RanCall[] {
  return ran.slice(-mostBefore);
}

function changed(
  ran: readonly RanCall[],
  { id }: ToolCall,
  change: (one: RanCall) => RanCall,
): RanCall[] {
  return ran.map((one) => (one.callId === id ? change(one) : one));
}
