import { finishedFilesOf, logFilesOf } from '../log/log-files.ts';
import type { ChainVerdict } from '../log/verdict.ts';
import { verifyFiles } from '../log/verify-files.ts';
import { hashBefore } from './hash-before.ts';

/** The files of a log, oldest first, and the verdict on its chain. */
export interface VerifiedLog {
  files: readonly string[];
  /** Number of its first remaining line, from 1. */
  first: number;
  verdict: ChainVerdict;
}

/**
 * Verifies the chain of a log, whose oldest files may have been deleted. Throws StoreError if the oldest file does not
 * begin with a checkpoint of the deleted lines.
 *
 * @param path path of the current file
 */
export async function verifyLogFiles(path: string): Promise<VerifiedLog> {
  const files = logFilesOf(path);
  const first = finishedFilesOf(path)[0]?.first ?? 1;
  const [oldest] = files;
  const isWhole = first === 1 || oldest === undefined;
  const from = isWhole ? {} : { continuedFrom: await hashBefore(oldest, first) };
  return { files, first, verdict: await verifyFiles(files, from) };
}
