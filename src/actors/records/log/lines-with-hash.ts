import type { JsonObject } from '../../../machines/json.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { readLine } from './read-line.ts';
import type { Sha256Hex } from './verdict.ts';
import { hashesOf } from './verify-chain.ts';

const newline = Uint8Array.of(0x0a);

/** Finds the lines of a log with these hashes; an invalid line is omitted. Uses no Node APIs. */
export async function linesWithHash(
  chunks: AsyncIterable<Uint8Array>,
  hashes: ReadonlySet<string>,
  sha256Hex: Sha256Hex,
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  const splitter = new LineSplitter(maximumLineBytes);
  const take = async (chunk: Uint8Array): Promise<void> => {
    const lines = [...splitter.push(chunk)];
    const digests = await hashesOf(lines, sha256Hex);
    for (const [index, sha256] of digests.entries()) {
      const bytes = lines[index];
      const line = bytes !== undefined && hashes.has(sha256) ? readLine(bytes) : '';
      if (typeof line !== 'string') found.set(sha256, line);
    }
  };
  for await (const chunk of chunks) await take(chunk);
  await take(newline);
  return found;
}
