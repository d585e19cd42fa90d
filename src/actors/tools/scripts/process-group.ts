import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { OrphanReaper } from './orphan-reaper.ts';
import { type Supervisor, supervisorOn } from './supervisor.ts';

/** A program to start; nothing of it passes through a shell. */
export interface Program {
  program: string;
  args: string[];
  /** Working folder. */
  cwd: string;
  /** The whole environment. */
  env: Record<string, string>;
  /**
   * True when the program runs another one for us: a byte on descriptor 3 asks that one to end, and how it
   * ended is said there.
   */
  isSupervised: boolean;
}

/** A program that was started, with its pipes. */
export interface Child extends ChildProcess {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

/** A program in a process group of its own, which does not outlive the daemon. */
export interface ProcessGroup {
  child: Child;
  /** `null` for a program that runs by itself. */
  supervisor: Supervisor | null;
  /** Asks the program to end. */
  ask(): void;
  /** Sends a signal to everything in the group that is left. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Forgets the group once nothing of it is left. */
  release(): void;
}

/** What runs now. A process that is left at once takes it along. */
const running = new Set<Child>();

/** Takes along what runs when this process is killed; a sandbox sees to that by itself. */
const reaper = new OrphanReaper();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/**
 * Starts a program in a process group of its own. Throws an Error with a `code` without descriptors for its
 * pipes; that it could not be started otherwise is an `error` of the child.
 */
export function startGroup({ program, args, cwd, env, isSupervised }: Program): ProcessGroup {
  if (!isSupervised) reaper.watch();
  const stdio = ['pipe', 'pipe', 'pipe', ...(isSupervised ? (['pipe'] as const) : [])] as const;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: [...stdio] }) as Child;
  // Without file descriptors there are no pipes, and a failure that nobody hears ends the daemon.
  child.on('error', ignore);
  if ((child.stdio as unknown) === undefined) {
    throw Object.assign(new Error('the program has no pipes'), { code: 'EMFILE' });
  }
  const supervisor = isSupervised ? supervisorOn(child.stdio[3] as Duplex) : null;
  running.add(child);
  if (child.pid !== undefined && !isSupervised) reaper.add(child.pid);
  return {
    child,
    supervisor,
    ask() {
      if (supervisor === null) signalGroup(child, 'SIGTERM');
      else supervisor.ask();
    },
    signal: (signal) => signalGroup(child, signal),
    release() {
      running.delete(child);
      if (child.pid !== undefined) reaper.remove(child.pid);
      supervisor?.close();
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

/** What went wrong is heard elsewhere. */
function ignore(): void {}
