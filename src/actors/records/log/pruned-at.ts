import { open } from 'node:fs/promises';
import { isJsonObject } from '../../../machines/json.ts';
import { checkpointEvent, GENESIS, maximumLineBytes, type Standing } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { readLine } from './read-line.ts';

/**
 * Returns the position at which old files were pruned, from the checkpoint at the start of the oldest file; `null` for
 * a complete log, or one that starts with any other line.
 *
 * @param paths files of the log, oldest first
 */
export async function prunedAt(paths: readonly string[]): Promise<Standing | null> {
  const [oldest] = paths;
  const first = oldest === undefined ? null : await firstLineOf(oldest);
  return first === null ? null : standingBefore(first);
}

/** Reads from the first remaining line where a log was pruned; `null` if it was not. */
export function standingBefore(first: Uint8Array): Standing | null {
  const line = readLine(first);
  if (typeof line === 'string' || line['event'] !== checkpointEvent) return null;
  const { prev_hash: head, fields } = line;
  const count = isJsonObject(fields) ? fields['count'] : undefined;
  if (typeof head !== 'string' || head === GENESIS || typeof count !== 'number') return null;
  return { count, head };
}

async function firstLineOf(path: string): Promise<Uint8Array | null> {
  const handle = await open(path, 'r');
  try {
    const splitter = new LineSplitter(maximumLineBytes);
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      for (const line of splitter.push(chunk as Uint8Array)) return line;
    }
    return null;
  } finally {
    await handle.close();
  }
}
