import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../machines/message-of.ts';
import { shellWord } from '../../machines/shell-word.ts';
import type { Finding, Subject } from './check.ts';

const mebibyte = 1024 * 1024;

/** Free space in bytes below which the log and the store will soon be full. */
const littleSpace = 200 * mebibyte;

/** Free space in bytes below which no write is reliable. */
const noSpace = 10 * mebibyte;

/** Checks that the state folder and the other storage folders can be created and written durably. */
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
      message: `${folder} cannot be written (${messageOf(error)})`,
      fix: `check its owner and permissions: ls -ld ${shellWord(folder)}`,
    };
  }
}

/** Returns the folder itself, or its closest existing parent. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

/** Checks that no file with a secret is readable by other users. */
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
