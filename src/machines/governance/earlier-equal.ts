import type { Deferral, RanCall, ToolCall } from '../domain/task.ts';

/** Returns the latest call with the same tool and arguments that may have run; `null` if there is none. */
export function earlierEqual(
  ran: readonly RanCall[],
  { id, tool, argsSha256 }: ToolCall,
): NonNullable<Deferral['repeats']> | null {
  const equal = ran.findLast(
    (one) =>
      one.callId !== id &&
      one.tool === tool &&
      one.argsSha256 === argsSha256 &&
      one.outcome !== 'not_run',
  );
  if (equal === undefined) return null;
  const { callId, at, approver } = equal;
  return { callId, at, ...(approver === undefined ? {} : { approver }) };
}
