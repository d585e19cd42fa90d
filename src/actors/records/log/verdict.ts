import type { ChainReason } from './chain.ts';
import type { Standing } from './chain-format.ts';
import type { KeyRing } from './key-ring.ts';
import type { SignatureReason } from './line-signature.ts';
import type { LineReason } from './read-line.ts';

/** One file of a log, read in chunks. */
export interface LogFile {
  name: string;
  chunks: AsyncIterable<Uint8Array | string>;
}

/** Returns the lower-case hex SHA-256 of some bytes. */
export type Sha256Hex = (bytes: Uint8Array) => string | Promise<string>;

/** Faults of a log, worded to follow the line number. */
export type BreakReason =
  | LineReason
  | ChainReason
  | SignatureReason
  | 'the newline at the end is missing'
  | 'the last line is not the one that the store knows';

/** A bad line; `line` counts from 1 in its file. */
export interface LineBreak {
  file: string;
  line: number;
  reason: BreakReason;
  seq?: number;
  event?: string;
  expected?: string;
  actual?: string;
}

/** Verdict for a log without faults, as far as it was checked. */
export interface IntactLog {
  ok: true;
  events: number;
  /** Number of signed lines; signatures are verified only if `keys` were given. */
  signed: number;
  /** Hash of the last line; for an empty log, that of the line before it. */
  head: string;
  /** Lines before the last checkpoint across all files, and lines read after it; absent without a checkpoint. */
  checkpoint?: { count: number; after: number };
}

/** Result of a verification: intact, or the first bad line. */
export type ChainVerdict = IntactLog | ({ ok: false } & LineBreak);

/** Options of a verification. */
export interface VerifyOptions {
  /** Keys for verifying signatures; without keys, signatures are only counted. */
  keys?: KeyRing | null;
  /** Treats a line without a signature as bad. */
  requireSigned?: boolean;
  /** Hash of the line before the first one, for a log whose oldest files are gone. */
  continuedFrom?: string;
  /** A checkpoint stored elsewhere that the log must reach; detects a truncated log. */
  kept?: Standing | null;
  /** Called for every bad line, in order; if set, the verification continues after the first. */
  onBreak?: (broken: LineBreak) => void;
}

/** Formats a verdict as one sentence: `N events, chain intact, M signed`, or the first bad line with its reason. */
export function verdictSentence(verdict: ChainVerdict): string {
  if (!verdict.ok) return breakSentence(verdict);
  return `${verdict.events} events, chain intact, ${verdict.signed} signed`;
}

/** Formats a break as one sentence with line and reason. */
export function breakSentence(broken: LineBreak): string {
  const { file, line, seq, event, reason, expected, actual } = broken;
  const about = [event, seq === undefined ? undefined : `seq ${seq}`].filter(Boolean).join(', ');
  const where = `${file}:${line}${about === '' ? '' : ` (${about})`}`;
  const difference = expected === undefined ? '' : `; expected ${expected}, found ${actual}`;
  return `${where}: ${reason}${difference}`;
}
