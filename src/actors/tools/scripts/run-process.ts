import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Clock } from '../../ports.ts';
import { OrphanReaper } from './orphan-reaper.ts';
import { type Supervisor, supervisorOn } from './supervisor.ts';

/** One program to run; nothing of it passes through a shell. */
export interface Command {
  program: string;
  args: string[];
  /** Working folder. */
  cwd: string;
  /** The whole environment. */
  env: Record<string, string>;
  /** Written to standard input, which is then closed. */
  input: string;
  /**
   * True when the program runs another one for us: a byte on descriptor 3 asks that one to end, and how it
   * ended is said there.
   */
  isSupervised: boolean;
}

/** What a process may take. */
export interface ProcessLimits {
  /** Milliseconds until it is asked to end. */
  timeout: number;
  /** Milliseconds between being asked (SIGTERM) and being made to (SIGKILL). */
  grace: number;
  /** Bytes of standard output and standard error together. */
  outputBytes: number;
}

/** How a process ended. */
export type ProcessEnd =
  | { kind: 'exited'; code: number | null; signal: string | null; stdout: string; stderr: string }
  | { kind: 'timedOut' | 'aborted' | 'tooMuchOutput' | 'tooManyProcesses' };

interface Child extends ChildProcess {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

/** What runs now. A process that is left at once takes it along. */
const running = new Set<Child>();

/** Takes along what runs when this process is killed; a sandbox sees to that by itself. */
const reaper = new OrphanReaper();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/**
 * Runs a program in a process group of its own and resolves when the group is gone.
 *
 * Whatever the program leaves running in its group is killed as soon as it ends itself; only a process
 * that starts a session of its own gets away, and from a supervisor that is a sandbox not even that.
 * Rejects when the program cannot be started.
 */
export async function runProcess(
  command: Command,
  limits: ProcessLimits,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ProcessEnd> {
  if (signal.aborted) return { kind: 'aborted' };
  if (!command.isSupervised) reaper.watch();
  const { child, supervisor } = start(command);
  running.add(child);
  if (child.pid !== undefined && !command.isSupervised) reaper.add(child.pid);
  const stopper = stopperOf(child, supervisor, limits.grace, clock);
  const output = collect(child, limits.outputBytes, () => stopper.stop('tooMuchOutput', 'SIGKILL'));
  const timer = clock.setTimeout(() => stopper.stop('timedOut', 'SIGTERM'), limits.timeout);
  const abort = () => stopper.stop('aborted', 'SIGTERM');
  signal.addEventListener('abort', abort, { once: true });
  try {
    const closed = once(child, 'close');
    closed.catch(ignore);
    child.stdin.on('error', ignore).end(command.input);
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, string | null];
    signalGroup(child, 'SIGKILL');
    await drained(child, closed, limits.grace, clock);
    if (stopper.reason) return { kind: stopper.reason };
    const end = supervisor
      ? supervisor.endOf({ code, signal: endedBy })
      : { code, signal: endedBy };
    return end === 'tooManyProcesses' ? { kind: end } : { kind: 'exited', ...end, ...output() };
  } finally {
    running.delete(child);
    if (child.pid !== undefined) reaper.remove(child.pid);
    signal.removeEventListener('abort', abort);
    clock.clearTimeout(timer);
    stopper.done();
    supervisor?.close();
  }
}

function start({ program, args, cwd, env, isSupervised }: Command) {
  const stdio = ['pipe', 'pipe', 'pipe', ...(isSupervised ? (['pipe'] as const) : [])] as const;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: [...stdio] }) as Child;
  // Without file descriptors there are no pipes, and a failure that nobody hears ends the daemon.
  child.on('error', ignore);
  if ((child.stdio as unknown) === undefined) {
    throw Object.assign(new Error('the program has no pipes'), { code: 'EMFILE' });
  }
  const supervisor = isSupervised ? supervisorOn(child.stdio[3] as Duplex) : null;
  return { child, supervisor };
}

/** A child may end without reading its input, and the broken pipe then says nothing new. */
function ignore(): void {}

type StopReason = 'timedOut' | 'aborted' | 'tooMuchOutput';

function stopperOf(child: Child, supervisor: Supervisor | null, grace: number, clock: Clock) {
  let killing: unknown;
  return {
    reason: null as StopReason | null,
    stop(reason: StopReason, first: 'SIGTERM' | 'SIGKILL'): void {
      if (this.reason) return;
      this.reason = reason;
      if (supervisor && first === 'SIGTERM') supervisor.ask();
      else signalGroup(child, first);
      killing = clock.setTimeout(() => signalGroup(child, 'SIGKILL'), grace);
    },
    done(): void {
      clock.clearTimeout(killing);
    },
  };
}

function signalGroup(child: Child, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
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

/** A process that left the group may hold the pipes open for ever, so they are not waited for without end. */
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
