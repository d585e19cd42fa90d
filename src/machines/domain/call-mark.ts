import type { CallMark } from './facts.ts';
import type { Deferral, ToolCall } from './task.ts';

/** Returns the identity in the log of a call about which no person was asked. */
export function markOfCall({ id, argsSha256, ...ruled }: ToolCall): CallMark {
  return { callId: id, argsSha256, ...policyOf(ruled) };
}

/** Returns the identity in the log of a held or released call; `ruled` is the call if its ruling is the event. */
export function markOfDeferral(
  { id, argsSha256, runsSha256 }: Deferral,
  ruled: Pick<ToolCall, 'policySha256'> = {},
): CallMark {
  return {
    callId: id,
    deferralId: id,
    argsSha256,
    ...(runsSha256 === undefined ? {} : { runsSha256 }),
    ...policyOf(ruled),
  };
}

/** Returns the digest of the policy that ruled on a call, if it has been ruled on. */
export function policyOf({
  policySha256,
}: Pick<ToolCall, 'policySha256'>): Pick<CallMark, 'policySha256'> {
  return policySha256 === undefined ? {} : { policySha256 };
}
