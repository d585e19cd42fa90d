import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { recordedEvent } from '../log/recorded-event.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * Returns the hash of the line before a file, from the checkpoint in its first line. Throws StoreError unless the
 * checkpoint covers `first - 1` lines.
 */
export async function hashBefore(file: string, first: number): Promise<string> {
  const line = await firstLineOf(file);
  const event = line === null ? null : recordedEvent(Buffer.from(line));
  const fields = event?.['fields'] as { count?: unknown; head?: unknown } | undefined;
  if (event?.event === 'checkpoint' && fields?.count === first - 1) return String(fields.head);
  throw new StoreError(
    `${file}:1: the audit log does not verify (the file does not begin with a checkpoint of ${first - 1} lines); move it away to start a new one, or restore it`,
  );
}

async function firstLineOf(file: string): Promise<string | null> {
  for await (const line of createInterface({ input: createReadStream(file) })) return line;
  return null;
}
