import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Runs a program with the packages of this repository at hand, and resolves however it ends. */
export function runCommand(
  program: string,
  args: string[],
  folder: string = root,
): Promise<{ status: number; stdout: string; stderr: string }> {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const env = {
    ...process.env,
    PATH: path,
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    HOLDPOINT_SUITE: undefined,
  };
  return new Promise((resolve) => {
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ status, stdout, stderr });
    });
  });
}
