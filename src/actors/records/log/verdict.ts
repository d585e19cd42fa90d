import type { ChainReason } from './chain.ts';
import type { Standing } from './chain-format.ts';
import type { KeyRing } from './key-ring.ts';
import type { SignatureReason } from './line-signature.ts';
import type { LineReason } from './read-line.ts';

/** One file of a log, read piece by piece. */
export interface LogFile {
  name: string;
  chunks: AsyncIterable<Uint8Array | string>;
}

/** Lower-case hex SHA-256 of some bytes. */
export type Sha256Hex = (bytes: Uint8Array) => string | Promise<string>;

/** What can be wrong with a log, in words that follow the number of the line. */
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

/** A log in order, as far as it was checked. */
export interface IntactLog {
  ok: true;
  events: number;
  /** Lines that carry a signature; checked only where `keys` were given. */
  signed: number;
  /** The hash of the last line; that of the line before the log when there is none. */
  head: string;
  /** Lines before the last checkpoint, over all files, and those read after it; left out when there is none. */
  checkpoint?: { count: number; after: number };
}

/** What a verification found: all of it in order, or the first line that is not. */
export type ChainVerdict = IntactLog | ({ ok: false } & LineBreak);

/** How closely a log is looked at. */
export interface VerifyOptions {
  /** Checks signatures; without it they are counted. */
  keys?: KeyRing | null;
  /** Takes a line without a signature for a bad one. */
  requireSigned?: boolean;
  /** The hash of the line before the first one, for a log whose oldest files are gone. */
  continuedFrom?: string;
  /** A checkpoint kept elsewhere, which the log has to come past: it shows a cut tail. */
  kept?: Standing | null;
  /** Is told every bad line in order; with it the reading goes on after the first. */
  onBreak?: (broken: LineBreak) => void;
}

/** Puts a verdict into one sentence: `N events, chain intact, M signed`, or the first bad line with its reason. */
export function verdictSentence(verdict: ChainVerdict): string {
  if (!verdict.ok) return breakSentence(verdict);
  return `${verdict.events} events, chain intact, ${verdict.signed} signed`;
}

/** Puts a break into one sentence: which line and why. */
export function breakSentence(broken: LineBreak): string {
  const { file, line, seq, event, reason, expected, actual } = broken;
  const about = [event, seq === undefined ? undefined : `seq ${seq}`].filter(Boolean).join(', ');
  const where = `${file}:${line}${about === '' ? '' : ` (${about})`}`;
  const difference = expected === undefined ? '' : `; expected ${expected}, found ${actual}`;
  return `${where}: ${reason}${difference}`;
}
