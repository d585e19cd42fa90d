import type { Deferral, ToolCall } from '../domain/task.ts';

/** What the ruling on a held call was made from, besides its arguments; equal for all calls that one rule holds. */
export interface RuledAs {
  policySha256: string;
  tool: string;
  /** Digest of the definition of the tool. */
  offered: string;
  /** Digest of what the tool runs; `null` where the program of the call states what runs. */
  runsSha256: string | null;
  /** True if another program runs the call. */
  isElsewhere: boolean;
}

/** A call that waits for a decision. */
export interface WaitingCall {
  call: ToolCall | undefined;
  deferral: Deferral | null;
  /** True if another program runs the call. */
  isElsewhere: boolean;
}

/** Returns what the ruling on a waiting call was made from; `null` if it does not wait, or if that is not stored. */
export function ruledAs({ call, deferral, isElsewhere }: WaitingCall): RuledAs | null {
  if (call === undefined || deferral === null) return null;
  const { id, tool, argsSha256, policySha256, offered } = call;
  const { runsSha256 } = deferral;
  if (deferral.id !== id || deferral.argsSha256 !== argsSha256) return null;
  if (policySha256 === undefined || offered === undefined || runsSha256 === undefined) return null;
  if (call.runsSha256 === undefined) {
    return { policySha256, tool, offered, runsSha256, isElsewhere };
  }
  if (call.runsSha256 !== runsSha256) return null;
  return { policySha256, tool, offered, runsSha256: null, isElsewhere };
}
