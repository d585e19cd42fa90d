import { maximumLineBytes } from './chain-format.ts';
import { encodedChunks } from './encoded-chunks.ts';
import { LineSplitter } from './line-splitter.ts';
import { LogReading } from './log-reading.ts';
import type { ChainVerdict, LogFile, Sha256Hex, VerifyOptions } from './verdict.ts';

/**
 * Verifies a log from its first line across its files in order: lines, chain, checkpoints and, given keys, signatures
 * (docs/contract/audit.md). Uses constant memory and no Node APIs.
 */
export async function verifyChain(
  files: Iterable<LogFile> | AsyncIterable<LogFile>,
  sha256Hex: Sha256Hex,
  options: VerifyOptions = {},
): Promise<ChainVerdict> {
  const reading = new LogReading(options);
  for await (const file of files) {
    await readFile(file, { reading, sha256Hex });
    if (reading.isOver) break;
  }
  return reading.finish();
}

async function readFile(
  { name, chunks }: LogFile,
  { reading, sha256Hex }: { reading: LogReading; sha256Hex: Sha256Hex },
): Promise<void> {
  const splitter = new LineSplitter(maximumLineBytes);
  reading.open(name);
  for await (const chunk of encodedChunks(chunks)) {
    const lines = [...splitter.push(chunk)];
    const hashes = await hashesOf(lines, sha256Hex);
    for (const [index, bytes] of lines.entries()) {
      const pending = reading.take(bytes, hashes[index] as string);
      if (pending !== null) await pending;
      if (reading.isOver) return;
    }
    if (splitter.pending > maximumLineBytes) {
      return reading.giveUp({ reason: 'the line is longer than 4 MiB' });
    }
  }
  if (splitter.pending > 0) {
    await reading.giveUp({ reason: 'the newline at the end is missing' });
  }
}

/** Hashes the lines of a chunk concurrently; with WebCrypto, sequential hashing takes four times as long. */
export async function hashesOf(
  lines: readonly Uint8Array[],
  sha256Hex: Sha256Hex,
): Promise<string[]> {
  const hashes: string[] = [];
  const awaited: Promise<string>[] = [];
  for (const line of lines) {
    const hash = sha256Hex(line);
    if (typeof hash === 'string') hashes.push(hash);
    else awaited.push(hash);
  }
  return awaited.length === 0 ? hashes : Promise.all(awaited);
}
