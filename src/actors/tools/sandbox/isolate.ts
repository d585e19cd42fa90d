import { readFileSync } from 'node:fs';
import { lstat, mkdir, readlink, realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { programFolder } from '../../../package-root.ts';
import { findProgram } from '../../process/process.ts';
import { type Shown, shownEntries } from './hidden-files.ts';
import type { SandboxLevel } from './sandbox-level.ts';
import { programFolders, replacedFiles, systemFiles } from './system-places.ts';

/** Maximum processes of one sandbox. */
const mostProcesses = 256;

/**
 * Returns the command prefix that sets kernel limits; empty without `prlimit`.
 *
 * No core dumps, files of at most 256 MiB, 1,024 open files, and as much processor time as `timeout` (ms) allows on
 * every core, which also stops a process that escaped. The number of processes is limited only in a sandbox, where no
 * other process of the same user counts; the kernel exempts root.
 */
function resourceLimits(timeout: number, isSandboxed: boolean): string[] {
  const program = findProgram('prlimit');
  if (program === null) return [];
  const atMost = hardLimits();
  const seconds = Math.ceil(timeout / 1000) * availableParallelism() + 1;
  return [
    program,
    '--core=0',
    `--fsize=${atMost('Max file size', 256 * 1024 * 1024)}`,
    `--nofile=${atMost('Max open files', 1024)}`,
    `--cpu=${atMost('Max cpu time', seconds)}`,
    ...(isSandboxed ? [`--nproc=${atMost('Max processes', mostProcesses)}`] : []),
    '--',
  ];
}

/** Limits cannot be raised, so a lower existing one is kept. */
function hardLimits(): (name: string, wanted: number) => number {
  const table = readFileSync('/proc/self/limits', 'utf8');
  return (name, wanted) => {
    const hard = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(table)?.[1];
    return Math.min(wanted, Number(hard ?? Number.POSITIVE_INFINITY));
  };
}

let code: string | undefined;

/** Returns the bridge's code, for `node --eval`. */
function bridgeCode(): string {
  code ??= readFileSync(join(programFolder, 'actors/tools/sandbox/sandbox-bridge.js'), 'utf8');
  return code;
}

/** Isolation of a script, and its permissions. */
export interface Isolation {
  level: SandboxLevel;
  /** The agent's folder, links resolved. */
  agentDirectory: string;
  /** Hidden absolute paths in it, in addition to entries named like secrets. */
  hidden: readonly string[];
  /** Folders in it, links resolved, to which the script may write. */
  writable: readonly string[];
  /** Private folder of this run. */
  home: string;
  /** Working folder; the private folder by default. */
  cwd?: string;
  /** The egress proxy; `null` for none. */
  proxy: { port: number; socketPath: string } | null;
  /** Time limit of the script, in milliseconds. */
  timeout: number;
}

/** A command line that isolates its program. */
export interface Isolated {
  program: string;
  args: string[];
  /** True if a supervisor runs the program and communicates over descriptor 3. */
  isSupervised: boolean;
}

/** The requested sandbox is missing or cannot be started. */
export class SandboxError extends Error {
  readonly code = 'sandbox_missing';
}

const mebibyte = 1024 * 1024;
const node = '/opt/holdpoint/node';

/**
 * Wraps a command line so that it runs at an isolation level. Throws SandboxError without bubblewrap, and
 * FolderTooLargeError.
 */
export async function isolate(
  program: string,
  args: readonly string[],
  isolation: Isolation,
): Promise<Isolated> {
  const { level, proxy, timeout } = isolation;
  if (level === 'env') {
    const [first = program, ...rest] = [...resourceLimits(timeout, false), program, ...args];
    return { program: first, args: rest, isSupervised: false };
  }
  const bwrap = findProgram('bwrap');
  if (bwrap === null) {
    throw new SandboxError('bwrap is not installed; install the package bubblewrap');
  }
  const inside = program === process.execPath ? node : program;
  const way = proxy === null ? ['0', ''] : [String(proxy.port), proxy.socketPath];
  return {
    program: bwrap,
    args: [
      ...apart,
      ...(await system()),
      ...(await files(isolation)),
      ...['--chdir', isolation.cwd ?? isolation.home, '--'],
      ...resourceLimits(timeout, true),
      ...[node, '--input-type=module', '--eval', bridgeCode(), '--', ...way, inside, ...args],
    ],
    isSupervised: true,
  };
}

/**
 * Separate namespaces of every kind, no capabilities, no nested user namespaces, and no access to the terminal. The
 * environment is passed through bwrap's own, since `--setenv` would show its values to every user of the machine; it
 * must therefore be built from nothing. Node's proxy variable would slow down the bridge, which sets it for the script
 * only.
 */
const apart = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--disable-userns', '--cap-drop', 'ALL', '--new-session'],
  ...['--die-with-parent', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
  ...['--unsetenv', 'NODE_USE_ENV_PROXY'],
];

/** Programs, libraries, devices and this Node, all read-only. */
async function system(): Promise<string[]> {
  const own = (name: string) => join(programFolder, 'actors/tools/sandbox/etc', name);
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...(await Promise.all(programFolders.map(sameFolder))).flat(),
    ...systemFiles.flatMap((path) => ['--ro-bind-try', path, path]),
    ...replacedFiles.flatMap((path) => ['--ro-bind', own(basename(path)), path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(16 * mebibyte), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', String(256 * mebibyte), '--tmpfs', '/tmp'],
    ...['--ro-bind', process.execPath, node],
  ];
}

/** `/bin` and similar paths are links into `/usr` on most systems, and folders on some. */
async function sameFolder(path: string): Promise<string[]> {
  try {
    const isLink = (await lstat(path)).isSymbolicLink();
    return isLink ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
  } catch {
    return [];
  }
}

/** The agent's folder without secrets, its writable folders, the private folder, and the proxy's socket. */
async function files(isolation: Isolation): Promise<string[]> {
  const { agentDirectory, hidden, writable, home, proxy } = isolation;
  await Promise.all(writable.map(standing));
  const entries = await shownEntries(agentDirectory, { hidden, writable });
  return [
    // Hides the whole folder, wherever it lies; entries are then shown one by one.
    ...['--tmpfs', agentDirectory],
    ...(await Promise.all(entries.map(shown))).flat(),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--remount-ro', agentDirectory],
    ...['--bind', home, home],
    ...(proxy === null ? [] : ['--bind', proxy.socketPath, proxy.socketPath]),
    ...['--remount-ro', '/'],
  ];
}

/** Creates a missing folder. Throws SandboxError if it has become a link since the start. */
async function standing(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await realpath(path)) === path) return;
  throw new SandboxError(`${path} leads elsewhere now; restart the agent`);
}

async function shown({ kind, path }: Shown): Promise<string[]> {
  switch (kind) {
    case 'bind':
      return ['--ro-bind', path, path];
    case 'link':
      return ['--symlink', await readlink(path), path];
    case 'hideFile':
      return ['--ro-bind', '/dev/null', path];
    case 'hideFolder':
      return ['--tmpfs', path, '--remount-ro', path];
  }
}
