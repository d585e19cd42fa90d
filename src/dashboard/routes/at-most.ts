import { Problem } from '../../http/wire/problem.ts';

/** Limits concurrency. Calls above the limit are rejected with the status and the error. */
export function atMost(most: number, { status, error }: { status: 429 | 503; error: string }) {
  let running = 0;
  return async function runAmong<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    if (running >= most) throw new Problem(status, { error }, { 'Retry-After': '5' });
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
    }
  };
}
