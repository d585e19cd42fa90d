import {
  type ChainVerdict,
  GENESIS,
  type LineBreak,
  readPublicKeys,
  verifyChain,
  webKeyRing,
  webSha256Hex,
} from '../../../../actors/records/log/verifier.ts';

export type { ChainVerdict, LineBreak };

const encoder = new TextEncoder();

/** Lines of a log, in order and without gaps. */
export interface LogPart {
  chunks: AsyncIterable<Uint8Array | string>;
  /** The hash of the line before the first one; `null` where the log begins. */
  continuedFrom: string | null;
}

/** How closely a log is looked at. */
export interface LogChecks {
  keys: LogKeys;
  /** How far it came when it was last verified. */
  kept?: { count: number; head: string } | null;
  /** Is told of every bad line in order, its `line` counted from 1. */
  onBreak: (broken: LineBreak) => void;
}

/** The keys to check signatures with; `null` checks none. */
export type LogKeys = Awaited<ReturnType<typeof webKeyRing>> | null;

/** Takes the keys of an agent for use; `null` when it publishes none. Throws when they are no keys. */
export async function takeKeys(keys: readonly unknown[]): Promise<LogKeys> {
  if (keys.length === 0) return null;
  return webKeyRing(readPublicKeys(JSON.stringify({ keys })));
}

/** Verifies a part of a log by the rules of `audit verify`. */
export function checkPart(
  { chunks, continuedFrom }: LogPart,
  { keys, kept = null, onBreak }: LogChecks,
): Promise<ChainVerdict> {
  const options = { keys, kept, continuedFrom: continuedFrom ?? GENESIS, onBreak };
  return verifyChain([{ name: 'log', chunks }], webSha256Hex, options);
}

/** Returns the hash that the line after this one must carry. */
export function hashOf(line: string): Promise<string> {
  return webSha256Hex(encoder.encode(line));
}
