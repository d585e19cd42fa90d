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

/** Folders of the built pages, in a clone and in the package. */
const folders = {
  dashboard: join(packageRoot, 'dist/ui/dashboard'),
  approvals: join(packageRoot, 'dist/ui/approvals'),
};

/** The built page of an evidence bundle, in a clone and in the package. */
const bundlePage = join(packageRoot, 'dist/ui/bundle.html');

/** True if the pages need no build: in the package, and in a clone whose pages are newer than their sources. */
export function isPageBuilt(): boolean {
  if (!existsSync(builder)) return true;
  const pages = [...Object.values(folders).map((one) => join(one, 'index.html')), bundlePage];
  const built = Math.min(...pages.map(changedAt));
  const lock = join(packageRoot, 'package-lock.json');
  const files = [builder, lock, ...sources.flatMap(filesBelow)];
  return files.every((file) => changedAt(file) <= built);
}

/**
 * Returns the folders of the pages. In a clone, first builds the pages if one is missing or older than its sources, unless
 * `signal` aborts. Rejects with PageBuildError.
 */
export async function builtPages(signal?: AbortSignal): Promise<typeof folders> {
  if (isPageBuilt()) return folders;
  const flags = ['--disable-warning=ExperimentalWarning', builder];
  const options = signal === undefined ? {} : { signal };
  await promisify(execFile)(process.execPath, flags, options).catch((error: unknown) => {
    throw notBuilt(error);
  });
  return folders;
}

/** Returns the text of the page of an evidence bundle, built like `builtPages`. Rejects with PageBuildError. */
export async function builtBundlePage(): Promise<string> {
  await builtPages();
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
