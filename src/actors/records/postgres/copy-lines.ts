import { createReadStream } from 'node:fs';
import type { PoolClient } from 'pg';
import { maximumLineBytes } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';

/** Maximum lines and bytes per insert. */
const most = { lines: 1_000, bytes: 4 * 1024 * 1024 };

const insert = `INSERT INTO audit_lines
  SELECT $1::bigint + n, line FROM unnest($2::text[]) WITH ORDINALITY AS x(line, n)`;

/**
 * Copies the lines of a log whose first line has the given number; returns the number of the last. Rejects with the
 * driver's error, and with TypeError for a line that is not UTF-8.
 */
export async function copyLines(
  files: readonly string[],
  first: number,
  client: Pick<PoolClient, 'query'>,
): Promise<number> {
  // Preserves a leading byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let last = first - 1;
  let texts: string[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (texts.length > 0) await client.query(insert, [last, texts]);
    last += texts.length;
    texts = [];
    bytes = 0;
  };
  for (const file of files) {
    const splitter = new LineSplitter(maximumLineBytes);
    for await (const chunk of createReadStream(file)) {
      for (const line of splitter.push(chunk as Uint8Array)) {
        texts.push(decoder.decode(line));
        bytes += line.length;
        if (texts.length >= most.lines || bytes >= most.bytes) await flush();
      }
    }
  }
  await flush();
  return last;
}
