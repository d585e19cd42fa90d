import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { plainLine } from '../../machines/plain-line.ts';
import { isAlive } from './is-alive.ts';
import { processSpace, processStart } from './process-start.ts';
import { readSmallFile } from './read-small-file.ts';
import {
  assertOwnFolder,
  makeStateFolder,
  StateFolderError,
  stateFolderOf,
} from './state-folder.ts';
import { writePrivately } from './write-privately.ts';

const listedAgent = z.object({
  agent_id: z.string(),
  /** It is shown to people who copy it, so it holds nothing that a terminal would act on. */
  directory: z
    .string()
    .refine((path) => isAbsolute(path) && resolve(path) === path && plainLine(path) === path),
  url: z.string(),
  pid: z.int().positive(),
  /** What `processStart` says of the process. */
  started: z.string().nullable(),
  /** Where the id of the process counts. */
  space: z.string(),
});

/** An agent of this user that runs, as it has put itself on the list. */
export type ListedAgent = z.infer<typeof listedAgent>;

/** An entry is small; anything larger is none. */
const longestEntry = 16 * 1024;

const entryName = /^[0-9a-f]{16}-\d+-\d+\.json$/;

/**
 * Lists this process among the running agents of its user, under `$XDG_STATE_HOME/holdpoint/agents`, and returns what
 * removes it. The list holds no secret, only where agents are. Throws StateFolderError, or the error of a file.
 */
export function listAgent(
  { agentId, directory, url }: { agentId: string; directory: string; url: string },
  env: NodeJS.ProcessEnv,
): () => void {
  const folder = listFolder(env);
  if (folder === null) throw new StateFolderError('this user has no home folder');
  makeStateFolder(folder);
  const { pid } = process;
  const started = processStart(pid);
  const place = hash('sha256', directory).slice(0, 16);
  // Nobody else serves this folder while its lock is held, in whatever container they did.
  for (const name of readdirSync(folder)) {
    if (entryName.test(name) && name.startsWith(place)) rmSync(join(folder, name), { force: true });
  }
  const path = join(folder, `${place}-${pid}-${started ?? 0}.json`);
  const entry: ListedAgent = {
    ...{ agent_id: agentId, directory, url },
    ...{ pid, started, space: processSpace() },
  };
  writePrivately(path, `${JSON.stringify(entry)}\n`);
  return () => rmSync(path, { force: true });
}

/**
 * Returns the running agents of this user, and removes those whose process is gone. Throws
 * StateFolderError when others may write to the list.
 */
export function runningAgents(env: NodeJS.ProcessEnv): ListedAgent[] {
  const folder = listFolder(env);
  if (folder === null || !existsSync(folder)) return [];
  assertOwnFolder(folder);
  const space = processSpace();
  const found = readdirSync(folder).filter((name) => entryName.test(name));
  return found.flatMap((name) => {
    const path = join(folder, name);
    const entry = readEntry(path);
    if (entry === null || entry.space !== space) return [];
    if (isAlive(entry.pid) && processStart(entry.pid) === entry.started) return [entry];
    // The name holds which process it was, so this is never the entry of a new one.
    rmSync(path, { force: true });
    return [];
  });
}

/** The same for every session of a user, so that an agent from one is found in another. */
function listFolder(env: NodeJS.ProcessEnv): string | null {
  const folder = stateFolderOf(env);
  return folder === null ? null : join(folder, 'agents');
}

/** Reads an entry that its user alone can have written; `null` for anything else. */
function readEntry(path: string): ListedAgent | null {
  const text = readSmallFile(
    path,
    ({ uid, mode, size }) =>
      uid === process.getuid?.() && (mode & 0o022) === 0 && size <= longestEntry,
  );
  if (text === null) return null;
  try {
    return listedAgent.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
