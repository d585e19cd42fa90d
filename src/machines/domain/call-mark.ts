import type { CallMark } from './facts.ts';
import type { Deferral, ToolCall } from './task.ts';

/** Returns the identity in the log of a call about which no person was asked. */
export function markOfCall({ id, callSha256 }: ToolCall): CallMark {
  return { callId: id, ...(callSha256 === undefined ? {} : { callSha256 }) };
}

/** Returns the identity in the log of a held or released call. */
export function markOfDeferral({ id, callSha256, runsSha256 }: Deferral): CallMark {
  return {
    callId: id,
    deferralId: id,
    ...(callSha256 === undefined ? {} : { callSha256 }),
    ...(runsSha256 === undefined ? {} : { runsSha256 }),
  };
}
