import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CliError } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** A clone has what builds the page; the package has the page alone. */
const builder = fileURLToPath(new URL('../../../scripts/build-page.ts', import.meta.url));

/** Where a built page stands, in a clone and in the package alike. */
const folder = fileURLToPath(new URL('../../../dist/ui/dashboard', import.meta.url));

/**
 * Returns the folder of the page; in a clone it is built first where it is missing or older than its sources. Rejects with
 * a CliError.
 */
export async function builtPage(): Promise<string> {
  if (!existsSync(builder)) return folder;
  const flags = ['--disable-warning=ExperimentalWarning', builder];
  await promisify(execFile)(process.execPath, flags).catch((error: unknown) => {
    throw notBuilt(error);
  });
  return folder;
}

function notBuilt(error: unknown): CliError {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const reason = /^\s*(?:\[.*\] |\w*Error: )?(.+)$/m.exec(said)?.[1] ?? String(error);
  return new CliError(plainLine(`the page of the dashboard cannot be built: ${reason}`), {
    code: 'page_not_built',
    hint: 'bring what builds it with: npm ci',
    cause: error,
  });
}
