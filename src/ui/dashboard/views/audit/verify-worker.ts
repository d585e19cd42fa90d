// Verifies a log in a worker, so that the page stays responsive. One worker per job.

import { sentenceOf } from '../../api/sentence-of.ts';
import { pace } from './pace.ts';
import { type Finding, type VerifyJob, verifyStream } from './verify-stream.ts';

/** Messages from the worker to the page. */
export type VerifierNews =
  | { type: 'progress'; lines: number }
  | { type: 'found'; finding: Finding }
  | { type: 'failed'; problem: string };

/** Milliseconds between two progress messages. */
const pause = 100;

addEventListener('message', ({ data }: MessageEvent<VerifyJob>) => {
  const tell = (news: VerifierNews): void => postMessage(news);
  const progress = pace(pause, (lines) => tell({ type: 'progress', lines }));
  verifyStream(data, progress.give)
    .finally(progress.stop)
    .then((finding) => tell({ type: 'found', finding }))
    .catch((error: unknown) => tell({ type: 'failed', problem: sentenceOf(error) }));
});
