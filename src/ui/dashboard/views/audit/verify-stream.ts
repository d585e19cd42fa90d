import { type ChainVerdict, checkPart, type LineBreak, takeKeys } from './log-check.ts';

/** A part of a log that is to be verified, and with what. */
export interface VerifyJob {
  /** Where its lines are, byte for byte. */
  url: string;
  headers: Record<string, string>;
  keys: readonly unknown[];
  /** The hash of the line before the first one; `null` where the log begins. */
  continuedFrom: string | null;
  /** How far the log came when it was last verified. */
  kept: { count: number; head: string } | null;
}

/** What was found in it. */
export interface Finding {
  verdict: ChainVerdict;
  /** The first bad lines: two are enough to say where it was changed. */
  breaks: LineBreak[];
}

/** Verifies a part of a log. Rejects when it cannot be read, and with the reason of the signal once it aborts. */
export type Verify = (
  job: VerifyJob,
  progress: (lines: number) => void,
  signal: AbortSignal,
) => Promise<Finding>;

const newline = 0x0a;

/**
 * Reads a part of a log as it comes and verifies it, in memory that does not grow with it. Rejects when it cannot be read
 * to its end.
 *
 * @param progress is told how many lines have been read
 */
export async function verifyStream(
  { url, headers, keys, continuedFrom, kept }: VerifyJob,
  progress: (lines: number) => void,
  signal?: AbortSignal,
): Promise<Finding> {
  const response = await fetch(url, {
    headers,
    ...(signal === undefined ? {} : { signal }),
    ...{ cache: 'no-store', credentials: 'omit', redirect: 'error' },
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

/** Not every browser can iterate over a stream. */
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
