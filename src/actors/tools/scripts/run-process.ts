import { once } from 'node:events';
import type { Clock } from '../../ports/clock.ts';
import { type Child, type ProcessGroup, type Program, startGroup } from './process-group.ts';

export interface Command extends Program {
  /** Written to standard input, which is then closed. */
  input: string;
}

/** Limits of a process. */
export interface ProcessLimits {
  /** Milliseconds until it is asked to end. */
  timeout: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Maximum bytes of standard output and standard error together. */
  outputBytes: number;
}

export type ProcessEnd =
  | { kind: 'exited'; code: number | null; signal: string | null; stdout: string; stderr: string }
  | { kind: 'timedOut' | 'aborted' | 'tooMuchOutput' | 'tooManyProcesses' };

/**
 * Runs a program in its own process group and resolves when the group is gone.
 *
 * Processes left in the group are killed as soon as the program exits. Only a process that starts its own session
 * escapes, and in a sandbox not even that. Rejects when the program cannot be started.
 */
export async function runProcess(
  command: Command,
  limits: ProcessLimits,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ProcessEnd> {
  if (signal.aborted) return { kind: 'aborted' };
  const group = startGroup(command);
  const { child, supervisor } = group;
  const stopper = stopperOf(group, limits.grace, clock);
  const output = collect(child, limits.outputBytes, () => stopper.stop('tooMuchOutput', 'SIGKILL'));
  const timer = clock.setTimeout(() => stopper.stop('timedOut', 'SIGTERM'), limits.timeout);
  const abort = () => stopper.stop('aborted', 'SIGTERM');
  signal.addEventListener('abort', abort, { once: true });
  try {
    const closed = once(child, 'close');
    closed.catch(ignore);
    child.stdin.on('error', ignore).end(command.input);
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, string | null];
    group.signal('SIGKILL');
    await drained(child, closed, limits.grace, clock);
    if (stopper.reason) return { kind: stopper.reason };
    const end = supervisor
      ? supervisor.endOf({ code, signal: endedBy })
      : { code, signal: endedBy };
    return end === 'tooManyProcesses' ? { kind: end } : { kind: 'exited', ...end, ...output() };
  } finally {
    signal.removeEventListener('abort', abort);
    clock.clearTimeout(timer);
    stopper.done();
    group.release();
  }
}

/** A child may end without reading its input; the broken pipe adds no information. */
function ignore(): void {}

type StopReason = 'timedOut' | 'aborted' | 'tooMuchOutput';

function stopperOf(group: ProcessGroup, grace: number, clock: Clock) {
  let killing: unknown;
  return {
    reason: null as StopReason | null,
    stop(reason: StopReason, first: 'SIGTERM' | 'SIGKILL'): void {
      if (this.reason) return;
      this.reason = reason;
      if (first === 'SIGTERM') group.ask();
      else group.signal(first);
      killing = clock.setTimeout(() => group.signal('SIGKILL'), grace);
    },
    done(): void {
      clock.clearTimeout(killing);
    },
  };
}

function collect(child: Child, limit: number, onTooMuch: () => void) {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) onTooMuch();
      else chunks[name].push(chunk);
    });
  }
  const text = (name: 'stdout' | 'stderr') => new TextDecoder().decode(Buffer.concat(chunks[name]));
  return () => ({ stdout: text('stdout'), stderr: text('stderr') });
}

/** A process that left the group may hold the pipes open forever, so the wait is limited. */
async function drained(
  child: Child,
  closed: Promise<unknown>,
  grace: number,
  clock: Clock,
): Promise<void> {
  let timer: unknown;
  const tooLong = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, grace);
  });
  await Promise.race([closed, tooLong]);
  clock.clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
}
