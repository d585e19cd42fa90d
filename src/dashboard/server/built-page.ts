import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { plainLine } from '../../machines/plain-line.ts';
import { packageRoot } from '../../package-root.ts';

/** The page cannot be built; `hint` names the fix. */
export class PageBuildError extends Error {
  readonly code = 'page_not_built';
  readonly hint = 'bring what builds it with: npm ci';
}

/** The build script of the page. It exists in a clone but not in the package. */
const builder = join(packageRoot, 'scripts/build-page.ts');

/** Folders of the pages' sources, in a clone: their own code, and the verification that they share with the command. */
const sources = ['src/ui', 'src/actors/records/log'].map((path) => join(packageRoot, path));

/** Folder of the built page, in a clone and in the package. */
const folder = join(packageRoot, 'dist/ui/dashboard');

/** The built approvals page of an agent, in a clone and in the package. */
const approvalsPage = join(packageRoot, 'dist/ui/approvals/index.html');

/** The built page of an evidence bundle, in a clone and in the package. */
const bundlePage = join(packageRoot, 'dist/ui/bundle.html');

/** True if the pages need no build: in the package, and in a clone whose pages are newer than their sources. */
export function isPageBuilt(): boolean {
  if (!existsSync(builder)) return true;
  const pages = [join(folder, 'index.html'), approvalsPage, bundlePage];
  const built = Math.min(...pages.map(changedAt));
  const lock = join(packageRoot, 'package-lock.json');
  const files = [builder, lock, ...sources.flatMap(filesBelow)];
  return files.every((file) => changedAt(file) <= built);
}

/**
 * Returns the folder of the page. In a clone, first builds the page if it is missing or older than its sources, unless
 * `signal` aborts. Rejects with PageBuildError.
 */
export async function builtPage(signal?: AbortSignal): Promise<string> {
  if (isPageBuilt()) return folder;
  const flags = ['--disable-warning=ExperimentalWarning', builder];
  const options = signal === undefined ? {} : { signal };
  await promisify(execFile)(process.execPath, flags, options).catch((error: unknown) => {
    throw notBuilt(error);
  });
  return folder;
}

/** Returns the text of the page of an evidence bundle, built like `builtPage`. Rejects with PageBuildError. */
export async function builtBundlePage(): Promise<string> {
  await builtPage();
  return readFile(bundlePage, 'utf8');
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Returns epoch milliseconds; 0 for a missing file. */
function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function notBuilt(error: unknown): PageBuildError {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const reason = /^\s*(?:\[.*\] |\w*Error: )?(.+)$/m.exec(said)?.[1] ?? String(error);
  const message = plainLine(`the pages cannot be built: ${reason}`);
  return new PageBuildError(message, { cause: error });
}
