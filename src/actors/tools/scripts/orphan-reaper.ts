import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Keeps the process groups it is told of (`+ GROUP`, `- GROUP`) and kills those that are left when its input
 * ends, which it does however the daemon ends.
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

/** Process groups that must not outlive this process, even when it is killed. */
export class OrphanReaper {
  readonly #groups = new Set<number>();
  #watcher: ChildProcessByStdio<Writable, null, null> | null = null;

  /** Starts the watcher if it is not running; called before a process starts, so that none escapes it. */
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

  /** A session of its own keeps it out of a Ctrl-C; without it, scripts run all the same. */
  #start(): void {
    const child = spawn('/bin/sh', ['-c', watcherCode], {
      ...{ cwd: '/', env: {}, detached: true },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => this.#forget(child)).on('exit', () => this.#forget(child));
    // Without file descriptors there is no pipe.
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
