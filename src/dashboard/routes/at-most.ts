import type { ErrorCode } from '../../http/wire/error-codes.ts';
import { Problem } from '../../http/wire/problem.ts';

/** Limits concurrency. Calls above the limit are rejected with the code and the error. */
export function atMost(most: number, { code, error }: { code: ErrorCode; error: string }) {
  let running = 0;
  return async function runAmong<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    if (running >= most) throw new Problem(code, error, {}, { 'Retry-After': '5' });
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
    }
  };
}
