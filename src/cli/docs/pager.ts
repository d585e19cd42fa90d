import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Session } from '../session.ts';

/** A terminal with a known size. */
interface Screen {
  isTTY?: boolean;
  rows?: number;
}

/**
 * Writes a string to stdout: through the pager of the user (`PAGER`, otherwise `less -R`) if stdout is a terminal and the
 * text is longer than it.
 */
export async function showInPager(
  { output, env, interruption }: Session,
  text: string,
): Promise<void> {
  const { isTTY = false, rows = 24 } = output.stdout as Screen;
  const command = env['PAGER'] ?? 'less -R';
  const isLong = text.split('\n').length > rows;
  if (!isTTY || !isLong || command === '' || !(await page(command, text, { env, interruption }))) {
    output.stdout.write(text);
  }
}

/** Returns false if the pager could not be started. */
async function page(
  command: string,
  text: string,
  { env, interruption }: Pick<Session, 'env' | 'interruption'>,
): Promise<boolean> {
  // A pager is a command line of the shell, as in git and man.
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESSCHARSET: 'utf-8', ...env },
  });
  const back = interruption.leaveToChild();
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code !== notFound && code !== notRunnable;
  } catch {
    return false;
  } finally {
    back();
  }
}

/** Exit codes of a shell whose command does not exist, or is no program. */
const notFound = 127;
const notRunnable = 126;
