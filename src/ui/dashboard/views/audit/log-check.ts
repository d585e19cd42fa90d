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

/** Consecutive lines of a log. */
export interface LogPart {
  chunks: AsyncIterable<Uint8Array | string>;
  /** Hash of the line before the first one; `null` at the start of the log. */
  continuedFrom: string | null;
}

/** Settings of a verification. */
export interface LogChecks {
  keys: LogKeys;
  /** Count and last hash of the last verification. */
  kept?: { count: number; head: string } | null;
  /** Called for every bad line in order; `line` counts from 1. */
  onBreak: (broken: LineBreak) => void;
}

/** The keys to check signatures with; `null` checks none. */
export type LogKeys = Awaited<ReturnType<typeof webKeyRing>> | null;

/** Imports an agent's keys; `null` if it publishes none. Throws for invalid keys. */
export async function takeKeys(keys: readonly unknown[]): Promise<LogKeys> {
  if (keys.length === 0) return null;
  return webKeyRing(readPublicKeys(JSON.stringify({ keys })));
}

/** Verifies a part of a log with the rules of `audit verify`. */
export function checkPart(
  { chunks, continuedFrom }: LogPart,
  { keys, kept = null, onBreak }: LogChecks,
): Promise<ChainVerdict> {
  const options = { keys, kept, continuedFrom: continuedFrom ?? GENESIS, onBreak };
  return verifyChain([{ name: 'log', chunks }], webSha256Hex, options);
}

/** Returns the hash that the following line must contain. */
export function hashOf(line: string): Promise<string> {
  return webSha256Hex(encoder.encode(line));
}
