import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The result of a disk call. `torn` writes a part and then has no space; `kill` is where the process exits. */
export const diskFaults = ['ENOSPC', 'EIO', 'torn', 'kill'] as const;

export type DiskFault = (typeof diskFaults)[number];

/** The exit of the simulated process. Each later disk call throws it. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

interface DiskOptions {
  /** The folder under which files are simulated; files elsewhere are not changed. */
  root: string;
  /** Receives the exit of the process, before anything else can happen. */
  onKilled: () => void;
}

interface Growing {
  /** Does some of it, for a call that is torn. */
  part?: () => void;
  /** True when it takes room on the disk. */
  grows?: boolean;
}

type Done = (error: NodeJS.ErrnoException | null) => void;

const genuine = {
  openSync: fs.openSync,
  closeSync: fs.closeSync,
  writeSync: fs.writeSync,
  fdatasync: fs.fdatasync,
  fdatasyncSync: fs.fdatasyncSync,
  fsyncSync: fs.fsyncSync,
  ftruncateSync: fs.ftruncateSync,
  renameSync: fs.renameSync,
};

const genuineExec = DatabaseSync.prototype.exec;

/**
 * The files of an agent on a disk that fails where configured: every write, cut, sync, renaming and commit under its
 * root is counted, and one of them can be refused, be done in part, or be the last that its process does.
 */
export class SimulatedDisk {
  /** Calls so far. */
  calls = 0;
  /** While it is, nothing can be written. */
  isFull = false;
  /** Bytes that a process cut off a file or overwrote, a sentence each. */
  readonly lost = new Set<string>();
  readonly #options: DiskOptions;
  /** Faults by the number of the call. */
  readonly #faults = new Map<number, DiskFault>();
  /** The files under the root that are open, with the length up to which each is on disk. */
  readonly #files = new Map<number, { path: string; synced: number }>();
  /** Folders of processes that have ended. */
  readonly #dead = new Set<string>();
  readonly #databases = new Set<DatabaseSync>();

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** Has one of the next calls fail: the first that comes when `after` is 0. */
  fail(after: number, fault: DiskFault): void {
    this.#faults.set(this.calls + 1 + after, fault);
  }

  /** True while every call is done as it is asked for. */
  get isSound(): boolean {
    return !this.isFull && ![...this.#faults.keys()].some((call) => call > this.calls);
  }

  /** Takes back every fault that has not come. */
  fix(): void {
    this.#faults.clear();
    this.isFull = false;
  }

  /** Has the process of a folder end: it does nothing more to its files. */
  kill(folder: string): void {
    this.#dead.add(folder);
  }

  /** Cuts a file of nobody's, as a power cut does. */
  cut(path: string, length: number): void {
    const descriptor = genuine.openSync(path, 'r+');
    genuine.ftruncateSync(descriptor, length);
    genuine.closeSync(descriptor);
  }

  /** Returns how much of a file is on disk for certain. */
  syncedOf(path: string): number {
    const lengths = [...this.#files.values()].filter((file) => file.path === path);
    return Math.max(0, ...lengths.map(({ synced }) => synced));
  }

  /** Puts the disk under this process until `remove`. */
  install(): void {
    // A replacement of another function has its own `this`.
    // oxlint-disable-next-line typescript/no-this-alias
    const disk = this;
    fs.openSync = (path, ...rest) => {
      const descriptor = genuine.openSync(path, ...rest);
      if (disk.#isOurs(String(path))) {
        const size = fs.fstatSync(descriptor).size;
        disk.#files.set(descriptor, { path: String(path), synced: size });
      }
      return descriptor;
    };
    fs.closeSync = (descriptor) => {
      disk.#files.delete(descriptor);
      genuine.closeSync(descriptor);
    };
    fs.writeSync = ((descriptor: number, bytes: Uint8Array, ...rest: (number | null)[]) => {
      const write = genuine.writeSync as (...args: unknown[]) => number;
      const [offset = 0, length = bytes.length, position = null] = rest as number[];
      if (position !== null) {
        disk.#noteOverwritten(descriptor, bytes.subarray(offset, offset + length), position);
      }
      return disk.#call(
        disk.#files.get(descriptor)?.path,
        () => write(descriptor, bytes, ...rest),
        { part: () => void write(descriptor, bytes, offset, length >> 1, position), grows: true },
      );
    }) as typeof fs.writeSync;
    const synced = (descriptor: number): void => {
      const file = disk.#files.get(descriptor);
      if (file !== undefined) file.synced = fs.fstatSync(descriptor).size;
    };
    fs.fdatasync = ((descriptor: number, done: Done) => {
      const path = disk.#files.get(descriptor)?.path;
      if (path === undefined) return genuine.fdatasync(descriptor, done);
      setImmediate(() => {
        try {
          disk.#call(path, () => synced(descriptor));
        } catch (error) {
          return done(error as NodeJS.ErrnoException);
        }
        return done(null);
      });
    }) as typeof fs.fdatasync;
    fs.fdatasyncSync = (descriptor) =>
      disk.#call(disk.#files.get(descriptor)?.path, () => synced(descriptor));
    fs.fsyncSync = (descriptor) =>
      disk.#call(disk.#files.get(descriptor)?.path, () => synced(descriptor));
    fs.ftruncateSync = (descriptor, length = 0) => {
      const file = disk.#files.get(descriptor);
      const isShorter = fs.fstatSync(descriptor).size > (length ?? 0);
      if (file !== undefined && isShorter)
        disk.lost.add(`a process cut bytes off ${basename(file.path)}`);
      disk.#call(file?.path, () => genuine.ftruncateSync(descriptor, length));
    };
    fs.renameSync = (from, to) => disk.#call(String(from), () => genuine.renameSync(from, to));
    DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
      const isCommit = sql === 'COMMIT' || sql.startsWith('BEGIN');
      const path = isCommit ? (this.location() ?? '') : '';
      if (disk.#isOurs(path)) disk.#databases.add(this);
      return disk.#call(path, () => genuineExec.call(this, sql), { grows: sql === 'COMMIT' });
    };
    syncBuiltinESMExports();
  }

  /** Gives the process its own disk back, and closes what the dead left open. */
  remove(): void {
    Object.assign(fs, genuine);
    DatabaseSync.prototype.exec = genuineExec;
    syncBuiltinESMExports();
    for (const database of this.#databases) if (database.isOpen) database.close();
    for (const descriptor of this.#files.keys()) genuine.closeSync(descriptor);
  }

  #noteOverwritten(descriptor: number, bytes: Uint8Array, position: number): void {
    const file = this.#files.get(descriptor);
    if (file === undefined) return;
    const there = Buffer.alloc(bytes.length);
    const read = fs.readSync(descriptor, there, 0, there.length, position);
    if (there.subarray(0, read).equals(bytes.subarray(0, read))) return;
    this.lost.add(`a process changed bytes of ${basename(file.path)}`);
  }

  #call<Result>(path: string | undefined, run: () => Result, { part, grows }: Growing = {}) {
    if (path === undefined || !this.#isOurs(path)) return run();
    if (this.#isDead(path)) throw new KilledError('this process has ended');
    this.calls += 1;
    const planned = this.#faults.get(this.calls) ?? (this.isFull ? 'ENOSPC' : undefined);
    // What takes no room is refused by no disk for being full.
    const isMet = planned === 'EIO' || planned === 'kill' || grows === true;
    const fault = isMet ? planned : undefined;
    if (fault === undefined) return run();
    if (fault === 'torn' || fault === 'kill') part?.();
    if (fault !== 'kill') throw faultOf(fault === 'torn' ? 'ENOSPC' : fault);
    this.#options.onKilled();
    throw new KilledError('the process ends here');
  }

  #isOurs(path: string): boolean {
    return path.startsWith(join(this.#options.root, sep));
  }

  #isDead(path: string): boolean {
    return [...this.#dead].some((folder) => path.startsWith(join(folder, sep)));
  }
}

function faultOf(code: 'ENOSPC' | 'EIO'): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${code}: the simulated disk refuses`);
  error.code = code;
  return error;
}
