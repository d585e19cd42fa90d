import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Returns the words of `helm` that pass each file of the example's folder as a value. */
export function exampleFiles(): string[] {
  const paths = globSync('**/*.*', { cwd: join(root, 'deploy/agent') });
  return paths.flatMap((path) => [
    '--set-file',
    `agent.files.${path.replaceAll('.', String.raw`\.`)}=deploy/agent/${path}`,
  ]);
}
