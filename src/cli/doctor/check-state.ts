import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shellWord } from '../../machines/shell-word.ts';
import type { Finding, Subject } from './check.ts';

const mebibyte = 1024 * 1024;

/** Bytes below which a log and a store soon run full. */
const littleSpace = 200 * mebibyte;

/** Bytes below which nothing can be relied on to be written. */
const noSpace = 10 * mebibyte;

/** Checks that the state folder and those of other files that are kept can be written durably, or made. */
export async function checkStateFolder(
  { stateFolder }: Subject,
  files: readonly string[],
): Promise<Finding> {
  const folders = new Set([stateFolder, ...files.map((path) => dirname(path))]);
  const findings = await Promise.all([...folders].map(checkFolder));
  const [own] = findings as [Finding];
  const worst = (status: Finding['status']) => findings.find((each) => each.status === status);
  return worst('fail') ?? worst('warn') ?? own;
}

async function checkFolder(wanted: string): Promise<Finding> {
  const folder = nearest(wanted);
  try {
    if (folder === wanted) await writeDurably(join(folder, `doctor.${process.pid}`));
    else accessSync(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return checkSpace(folder, bavail * bsize);
  } catch (error) {
    return {
      status: 'fail',
      message: `${folder} cannot be written (${error instanceof Error ? error.message : String(error)})`,
      fix: `check its owner and permissions: ls -ld ${shellWord(folder)}`,
    };
  }
}

/** The folder itself, or the one that it would be made in. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

/** Checks that no file with a secret can be read by others. */
export function checkPermissions(
  { stateFolder }: Pick<Subject, 'stateFolder'>,
  kept: readonly string[],
): Finding {
  const own = ['runtime.token', 'inspector.token', 'serve.json'].map((name) =>
    join(stateFolder, name),
  );
  const open = [...own, ...kept].filter(isOpenToOthers);
  if (open.length === 0) return { status: 'pass', message: 'files with secrets are private' };
  return {
    status: 'fail',
    message: `${open.join(', ')} can be read by other users`,
    fix: `chmod 600 ${open.map(shellWord).join(' ')}`,
  };
}

function checkSpace(folder: string, bytes: number): Finding {
  const free = `${Math.floor(bytes / mebibyte)} MiB free`;
  if (bytes >= littleSpace) return { status: 'pass', message: `${folder} can be written, ${free}` };
  return {
    status: bytes < noSpace ? 'fail' : 'warn',
    message: `${folder} can be written, but there is little space: ${free}`,
    fix: 'make room: an agent that cannot record refuses work',
  };
}

async function writeDurably(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('doctor');
    await file.sync();
  } finally {
    await file.close();
    await rm(path);
  }
}

function isOpenToOthers(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  return mode !== undefined && (mode & 0o077) !== 0;
}
