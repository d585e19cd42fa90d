import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { codeOf } from '../../machines/error-code.ts';
import { packageRoot } from '../../package-root.ts';
import { CliError, exitCodes } from '../cli-error.ts';

const examples = join(packageRoot, 'examples');

/** The agents of the dashboard's demo next to the refund agent, and the messages sent to them. */
export const demoAgents = join(examples, 'demo');

/** A temporary copy of the refund agent. */
export interface DemoFolder {
  directory: string;
  /** Removes the copy, unless the user asked to keep it. */
  remove(): Promise<void>;
}

/** Copies the refund agent to a new temporary folder, or to `keep`, which must be new or empty. */
export async function makeDemoFolder(keep: string | undefined): Promise<DemoFolder> {
  const directory =
    keep === undefined ? await mkdtemp(join(tmpdir(), 'holdpoint-try-')) : await emptyFolder(keep);
  await copyAgent(join(examples, 'refunds'), directory);
  return {
    directory,
    async remove() {
      if (keep === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Copies an agent without the state of an earlier run. */
export async function copyAgent(from: string, to: string): Promise<void> {
  const filter = (path: string): boolean => basename(path) !== '.service';
  await cp(from, to, { recursive: true, filter });
}

async function emptyFolder(path: string): Promise<string> {
  const directory = resolve(path);
  const found = await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw notEmpty(directory, error);
  });
  if (found.length > 0) throw notEmpty(directory);
  await mkdir(directory, { recursive: true });
  return directory;
}

function notEmpty(directory: string, cause?: unknown): CliError {
  return new CliError(`${directory} is not an empty folder`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'give --keep a new folder, so that nothing of yours is overwritten',
    cause,
  });
}
