import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The file that tests start as the command: the bundle of this run, or the sources where none was made. */
export function commandFile(): string {
  return bundledCommand() ?? join(root, 'src/cli.ts');
}

/** Where what one command has compiled lies for the next; it goes with its bundle. */
export function compileCache(): string {
  const bundled = bundledCommand();
  if (bundled === undefined) return join(root, 'node_modules/.cache/holdpoint-test');
  return join(dirname(bundled), 'compiled');
}

/** `compile-once.ts` says it to every worker. */
function bundledCommand(): string | undefined {
  return process.env['HOLDPOINT_TEST_COMMAND'];
}
