import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { checkpointEvent, GENESIS, maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { type LineReason, readLine } from './read-line.ts';

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
  | 'prev_hash is missing'
  | 'prev_hash is not that of the first line of a log'
  | 'prev_hash does not match the previous line'
  | 'the checkpoint does not match the lines before it'
  | 'the newline at the end is missing';

interface LineBreak {
  reason: BreakReason;
  seq?: number;
  event?: string;
  expected?: string;
  actual?: string;
}

/** What a verification found: all of it in order, or the first line that is not. */
export type ChainVerdict =
  | { ok: true; events: number; signed: number; head: string }
  | ({ ok: false; file: string; line: number } & LineBreak);

/**
 * Reads a log from its first line on, across its files in order, and checks lines, chain and checkpoints
 * (contract section 10) in memory that does not grow with the log.
 *
 * `signed` counts the lines that carry a signature; signatures are not checked here. `head` is the hash of the
 * last line, `GENESIS` when there is none. `line` counts from 1 in its file.
 */
export async function verifyChain(
  files: Iterable<LogFile> | AsyncIterable<LogFile>,
  sha256Hex: Sha256Hex,
): Promise<ChainVerdict> {
  const chain = new Chain(sha256Hex);
  for await (const { name, chunks } of files) {
    const splitter = new LineSplitter(maximumLineBytes);
    let line = 0;
    for await (const chunk of encoded(chunks)) {
      for (const bytes of splitter.push(chunk)) {
        line += 1;
        const broken = await chain.add(bytes);
        if (broken !== null) return { ok: false, file: name, line, ...broken };
      }
      if (splitter.pending > maximumLineBytes) {
        const reason = 'the line is longer than 4 MiB';
        return { ok: false, file: name, line: line + 1, reason };
      }
    }
    if (splitter.pending > 0) {
      const reason = 'the newline at the end is missing';
      return { ok: false, file: name, line: line + 1, reason };
    }
  }
  return { ok: true, events: chain.events, signed: chain.signed, head: chain.head };
}

/** Says a verdict in one sentence: `N events, chain intact, M signed`, or the first bad line with its reason. */
export function verdictSentence(verdict: ChainVerdict): string {
  if (verdict.ok) return `${verdict.events} events, chain intact, ${verdict.signed} signed`;
  const { file, line, seq, event, reason, expected, actual } = verdict;
  const about = [event, seq === undefined ? undefined : `seq ${seq}`].filter(Boolean).join(', ');
  const where = `${file}:${line}${about === '' ? '' : ` (${about})`}`;
  const difference = expected === undefined ? '' : `; expected ${expected}, found ${actual}`;
  return `${where}: ${reason}${difference}`;
}

class Chain {
  readonly #sha256Hex: Sha256Hex;
  events = 0;
  signed = 0;
  head = GENESIS;

  constructor(sha256Hex: Sha256Hex) {
    this.#sha256Hex = sha256Hex;
  }

  /** Checks the next line against what was read so far; `null` when it fits. */
  async add(bytes: Uint8Array): Promise<LineBreak | null> {
    const line = readLine(bytes);
    if (typeof line === 'string') return { reason: line };
    const broken = this.#brokenLink(line);
    if (broken !== null) return { ...broken, ...identityOf(line) };
    this.events += 1;
    if (typeof line['sig'] === 'string' && line['sig'] !== '') this.signed += 1;
    this.head = await this.#sha256Hex(bytes);
    return null;
  }

  #brokenLink(line: JsonObject): LineBreak | null {
    const actual = line['prev_hash'];
    if (typeof actual !== 'string') return { reason: 'prev_hash is missing' };
    if (actual !== this.head) {
      const reason =
        this.events === 0
          ? 'prev_hash is not that of the first line of a log'
          : 'prev_hash does not match the previous line';
      return { reason, expected: this.head, actual };
    }
    return line['event'] === checkpointEvent ? this.#brokenCheckpoint(line) : null;
  }

  #brokenCheckpoint(line: JsonObject): LineBreak | null {
    const fields = isJsonObject(line['fields']) ? line['fields'] : {};
    if (fields['count'] === this.events && fields['head'] === this.head) return null;
    return {
      reason: 'the checkpoint does not match the lines before it',
      expected: `count ${this.events} and head ${this.head}`,
      actual: `count ${JSON.stringify(fields['count'])} and head ${JSON.stringify(fields['head'])}`,
    };
  }
}

function identityOf({ seq, event }: JsonObject): { seq?: number; event?: string } {
  return {
    ...(typeof seq === 'number' ? { seq } : {}),
    ...(typeof event === 'string' ? { event } : {}),
  };
}

/** A pair of surrogates may be spread over two chunks of text. */
async function* encoded(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let held = '';
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string') {
      yield chunk;
      continue;
    }
    const text = held + chunk;
    held = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    yield encoder.encode(held === '' ? text : text.slice(0, -1));
  }
  if (held !== '') yield encoder.encode(held);
}
