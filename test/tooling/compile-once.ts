import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Runs one command, so that the first tests do not all compile the same program at once. */
export async function setup(): Promise<void> {
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/holdpoint-test'),
  };
  const words = ['src/cli.ts', 'policy', 'explain', 'issue_refund', '--dir', 'examples/refunds'];
  await promisify(execFile)(process.execPath, words, { cwd: root, env });
}
