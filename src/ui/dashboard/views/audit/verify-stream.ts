import { type ChainVerdict, checkPart, type LineBreak, takeKeys } from './log-check.ts';

/** The part of a log to verify, and the verification settings. */
export interface VerifyJob {
  /** URL of its unmodified lines. */
  url: string;
  headers: Record<string, string>;
  keys: readonly unknown[];
  /** Hash of the line before the first one; `null` at the start of the log. */
  continuedFrom: string | null;
  /** Count and last hash of the last verification. */
  kept: { count: number; head: string } | null;
}

/** The result of the verification. */
export interface Finding {
  verdict: ChainVerdict;
  /** The first two bad lines, which are enough to locate the change. */
  breaks: LineBreak[];
}

/** Verifies a part of a log. Rejects if the log cannot be read, and with the reason of the signal when aborted. */
export type Verify = (
  job: VerifyJob,
  progress: (lines: number) => void,
  signal: AbortSignal,
) => Promise<Finding>;

const newline = 0x0a;

/**
 * Verifies a part of a log while streaming it, with constant memory. Rejects if it cannot be read to its end.
 *
 * @param progress receives the number of lines read
 */
export async function verifyStream(
  { url, headers, keys, continuedFrom, kept }: VerifyJob,
  progress: (lines: number) => void,
  signal?: AbortSignal,
): Promise<Finding> {
  const response = await fetch(url, {
    headers,
    ...(signal === undefined ? {} : { signal }),
    ...{ cache: 'no-store', credentials: 'same-origin', redirect: 'error' },
  });
  if (!response.ok || response.body === null) {
    throw new Error(`The dashboard answered ${response.status} when the log was read.`);
  }
  const chunks = counted(response.body, progress);
  return verifyChunks(chunks, { keys, continuedFrom, kept });
}

/** Verifies a part of a log. */
export async function verifyChunks(
  chunks: AsyncIterable<Uint8Array>,
  { keys, continuedFrom, kept }: Omit<VerifyJob, 'url' | 'headers'>,
): Promise<Finding> {
  const breaks: LineBreak[] = [];
  const onBreak = (broken: LineBreak): void => {
    if (breaks.length < 2) breaks.push(broken);
  };
  const checks = { keys: await takeKeys(keys), kept, onBreak };
  return { verdict: await checkPart({ chunks, continuedFrom }, checks), breaks };
}

/** Not every browser supports async iteration of streams. */
async function* counted(
  stream: ReadableStream<Uint8Array>,
  progress: (lines: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let lines = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    yield read.value;
    for (let at = read.value.indexOf(newline); at !== -1; at = read.value.indexOf(newline, at + 1))
      lines += 1;
    progress(lines);
  }
}
