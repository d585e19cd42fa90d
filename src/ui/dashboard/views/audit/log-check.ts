import {
  type ChainVerdict,
  GENESIS,
  type LineBreak,
  readPublicKeys,
  verifyChain,
  webKeyRing,
  webSha256Hex,
} from '../../../../actors/records/log/verifier.ts';

export type { LineBreak };

const encoder = new TextEncoder();

/** Lines of a log, in order and without gaps. */
export interface LogLines {
  lines: AsyncIterable<string>;
  /** The line before the first one; `null` where the log begins. */
  before: string | null;
}

/** The keys to check signatures with; `null` checks none. */
export type LogKeys = Awaited<ReturnType<typeof webKeyRing>> | null;

/** Says whether this page may use the browser's cryptography: over plain HTTP only where it came from this machine. */
export function canCheck(): boolean {
  return globalThis.crypto.subtle !== undefined;
}

/** Takes the keys of an agent for use; `null` when it publishes none. Throws when they are no keys. */
export async function takeKeys(keys: readonly unknown[]): Promise<LogKeys> {
  if (keys.length === 0) return null;
  return webKeyRing(readPublicKeys(JSON.stringify({ keys })));
}

/** Verifies lines by the rules of `audit verify` and tells of every bad one in order, its `line` counted from 1. */
export async function checkLines(
  { lines, before }: LogLines,
  { keys, onBreak }: { keys: LogKeys; onBreak: (broken: LineBreak) => void },
): Promise<ChainVerdict> {
  const continuedFrom = before === null ? GENESIS : await webSha256Hex(encoder.encode(before));
  const file = { name: 'log', chunks: withNewlines(lines) };
  return verifyChain([file], webSha256Hex, { keys, continuedFrom, onBreak });
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
