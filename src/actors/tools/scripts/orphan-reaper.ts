import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Tracks process groups (`+ GROUP`, `- GROUP`) and kills the remaining ones when its input ends, which happens however
 * the daemon ends.
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
export class OrphanReaper {
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
