import { lstat, mkdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { programFolder } from '../../../package-root.ts';
import { findProgram } from '../../process/process.ts';
import { bridgeCode } from './bridge-code.ts';
import { type Shown, shownEntries } from './hidden-files.ts';
import { resourceLimits } from './resource-limits.ts';
import type { SandboxLevel } from './sandbox-level.ts';

/** How a script is kept apart, and what it may use. */
export interface Isolation {
  level: SandboxLevel;
  /** The agent's folder, links resolved. */
  agentDirectory: string;
  /** Absolute paths in it that are hidden besides those named like secrets. */
  hidden: readonly string[];
  /** Folders in it, links resolved, that the script may write. */
  writable: readonly string[];
  /** The private folder of this run. */
  home: string;
  /** Where it runs; in its private folder when left out. */
  cwd?: string;
  /** The egress proxy; `null` for none. */
  proxy: { port: number; socketPath: string } | null;
  /** Milliseconds the script may run. */
  timeout: number;
}

/** A command line that keeps its program apart. */
export interface Isolated {
  program: string;
  args: string[];
  /** True when the program is run by a supervisor that is spoken to on descriptor 3. */
  isSupervised: boolean;
}

/** The sandbox asked for is missing or cannot be started. */
export class SandboxError extends Error {
  readonly code = 'sandbox_missing';
}

const mebibyte = 1024 * 1024;
const node = '/opt/holdpoint/node';

/**
 * What of `/etc` programs need to find libraries and to check certificates. The folders of certificates are
 * named one by one, as private keys lie beside them, which a daemon that runs as root could read.
 */
const systemFiles = [
  ...['ssl/certs', 'ssl/cert.pem', 'ssl/openssl.cnf', 'ca-certificates'],
  ...['pki/ca-trust', 'pki/java', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf'],
  ...['alternatives', 'ld.so.cache'],
];

/**
 * Wraps a command line so that it runs at a level of isolation. Throws SandboxError without bubblewrap,
 * and FolderTooLargeError.
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
 * New namespaces of every kind, no capabilities, no way to a further user namespace or to the terminal.
 * The environment goes through bwrap itself, as `--setenv` would show its values to every user of the
 * machine; so it must be built from nothing before. What tells Node to use the proxy would only slow
 * the bridge down, which gives it back to the script.
 */
const apart = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--disable-userns', '--cap-drop', 'ALL', '--new-session'],
  ...['--die-with-parent', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
  ...['--unsetenv', 'NODE_USE_ENV_PROXY'],
];

/** Programs, libraries, devices and this Node, none of them writable. */
async function system(): Promise<string[]> {
  const folders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
  const own = (name: string) => join(programFolder, 'actors/tools/sandbox/etc', name);
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...(await Promise.all(folders.map(sameFolder))).flat(),
    ...systemFiles.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['passwd', 'group', 'hosts'].flatMap((name) => ['--ro-bind', own(name), `/etc/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(16 * mebibyte), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', String(256 * mebibyte), '--tmpfs', '/tmp'],
    ...['--ro-bind', process.execPath, node],
  ];
}

/** `/bin` and its like are links into `/usr` on most systems, and folders on some. */
async function sameFolder(path: string): Promise<string[]> {
  try {
    const isLink = (await lstat(path)).isSymbolicLink();
    return isLink ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
  } catch {
    return [];
  }
}

/** The agent's folder without its secrets, the folders that may be written, the private one, and the proxy's socket. */
async function files(isolation: Isolation): Promise<string[]> {
  const { agentDirectory, hidden, writable, home, proxy } = isolation;
  await Promise.all(writable.map(standing));
  const entries = await shownEntries(agentDirectory, { hidden, writable });
  return [
    // Nothing of the folder shows before each entry is named, wherever it lies.
    ...['--tmpfs', agentDirectory],
    ...(await Promise.all(entries.map(shown))).flat(),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--remount-ro', agentDirectory],
    ...['--bind', home, home],
    ...(proxy === null ? [] : ['--bind', proxy.socketPath, proxy.socketPath]),
    ...['--remount-ro', '/'],
  ];
}

/** Makes a folder that is missing. Throws SandboxError for one that has become a link since the start. */
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
