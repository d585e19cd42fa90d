import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { type Supervisor, supervisorOn } from './supervisor.ts';

/**
 * Tracks process groups (`+ GROUP`, `- GROUP`) and kills the remaining ones when its input ends, which happens however
 * the daemon exits.
 */
const watcherCode = `
trap '' HUP INT TERM
left=
while read -r sign group; do
  rest=
  for one in $left; do [ "$one" = "$group" ] || rest="$rest $one"; done
  left=$rest
  [ "$sign" = + ] && left="$left $group"
done
for group in $left; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/** Kills process groups that would outlive this process, even after a SIGKILL. */
class OrphanReaper {
  readonly #groups = new Set<number>();
  #watcher: ChildProcessByStdio<Writable, null, null> | null = null;

  /** Starts the watcher if it is not running; must be called before a process starts, so that no process escapes it. */
  watch(): void {
    if (this.#watcher === null) this.#start();
  }

  add(group: number): void {
    this.#groups.add(group);
    this.#say('+', group);
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#say('-', group);
  }

  #say(sign: '+' | '-', group: number): void {
    this.#watcher?.stdin.write(`${sign} ${group}\n`);
  }

  /** Runs in its own session, so that Ctrl-C does not end it. If it cannot start, scripts run without it. */
  #start(): void {
    const child = spawn('/bin/sh', ['-c', watcherCode], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => this.#forget(child)).on('exit', () => this.#forget(child));
    // Without free file descriptors there is no pipe.
    if (!(child.stdin as Writable | null)) return;
    child.stdin.on('error', () => this.#forget(child));
    child.unref();
    (child.stdin as Writable & { unref?: () => void }).unref?.();
    this.#watcher = child;
    for (const group of this.#groups) this.#say('+', group);
  }

  #forget(child: unknown): void {
    if (this.#watcher === child) this.#watcher = null;
  }
}

/** A program to start, without a shell. */
export interface Program {
  program: string;
  args: string[];
  /** Working folder. */
  cwd: string;
  /** The complete environment. */
  env: Record<string, string>;
  /**
   * True if the program supervises another one: a byte on descriptor 3 asks that one to end, and its exit is reported
   * there.
   */
  isSupervised: boolean;
}

export interface Child extends ChildProcess {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

/** A program in its own process group, which does not outlive the daemon. */
export interface ProcessGroup {
  child: Child;
  /** `null` for a program without a supervisor. */
  supervisor: Supervisor | null;
  ask(): void;
  /** Sends a signal to all remaining processes of the group. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Stops tracking the group once no process of it is left. */
  release(): void;
}

/** Running programs, killed when this process exits. */
const running = new Set<Child>();

/** Kills running programs if this process is killed. A sandbox kills its own program. */
const reaper = new OrphanReaper();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/**
 * Starts a program in its own process group. Throws an Error with a `code` if there are no descriptors for its pipes;
 * any other start failure is emitted as `error` by the child.
 */
export function startGroup({ program, args, cwd, env, isSupervised }: Program): ProcessGroup {
  if (!isSupervised) reaper.watch();
  const stdio = ['pipe', 'pipe', 'pipe', ...(isSupervised ? (['pipe'] as const) : [])] as const;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: [...stdio] }) as Child;
  // Without file descriptors there are no pipes, and an unhandled error would crash the daemon.
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
    // The group is gone already, as intended.
  }
}

/** Errors are handled elsewhere. */
function ignore(): void {}
