import { ToolError } from '../../ports/tool.ts';
import { type WorkerJob, WorkerPool } from '../../worker-pool.ts';

/** Result of a worker: text, or the problem with its input, worded without the tool's name. */
export type Apart = { text: string } | { problem: string };

/** A potentially long computation, and its tool. */
export interface ApartWork<Input> extends WorkerJob<Input> {
  tool: string;
  /** Timeout in milliseconds, including the wait for a free worker. */
  timeout: number;
}

/** Two concurrent calls leave the rest of the machine to the daemon; others are queued. */
const workers = new WorkerPool({ atOnce: 2, waiting: 200 });

/**
 * Runs a module's function in a worker with limited time and memory and an empty environment, so that no argument of a
 * model can block the daemon. Rejects with a ToolError.
 */
export async function runApart<Work extends (input: never) => Apart | Promise<Apart>>(
  work: ApartWork<Parameters<Work>[0]>,
): Promise<string> {
  const { tool, timeout, signal } = work;
  const late = AbortSignal.timeout(timeout);
  try {
    const bounded = { ...work, signal: AbortSignal.any([signal, late]) };
    const answer = (await workers.run(bounded)) as Apart;
    if ('text' in answer) return answer.text;
    throw new ToolError(`${tool}: ${answer.problem}`, { kind: 'invalid arguments' });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw failureOf(error, work, late);
  }
}

function failureOf(
  error: unknown,
  { tool, timeout, signal }: Pick<ApartWork<unknown>, 'tool' | 'timeout' | 'signal'>,
  late: AbortSignal,
): ToolError {
  const cause = { cause: error };
  if (signal.aborted) {
    return new ToolError(`${tool} was stopped because its task was`, { kind: 'stopped', ...cause });
  }
  if (late.aborted) {
    const message = `${tool} took longer than ${timeout / 1000} s and was stopped; ask for less`;
    return new ToolError(message, { kind: 'timeout', ...cause });
  }
  const { code, message: said } = error as NodeJS.ErrnoException;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message = `${tool} exceeded the memory limit and was stopped; request less`;
    return new ToolError(message, { kind: 'too much memory', ...cause });
  }
  if (said === 'Task queue is at limit') {
    const message = `${tool} was not run: too many calls wait already; try again later`;
    return new ToolError(message, { kind: 'busy', ...cause });
  }
  return new ToolError(`${tool} failed inside the service`, { kind: 'failed', ...cause });
}
