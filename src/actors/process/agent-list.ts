import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../machines/json.ts';
import { plainLine } from '../../machines/plain-line.ts';
import { readSmallFile } from '../read-small-file.ts';
import { isAlive } from './is-alive.ts';
import { processSpace, processStart } from './process-start.ts';
import {
  assertOwnFolder,
  makeStateFolder,
  StateFolderError,
  stateFolderOf,
} from './state-folder.ts';
import { writePrivately } from './write-privately.ts';

const listedAgent = z.object({
  agent_id: z.string(),
  /** Shown to users who copy it, so it may contain no terminal control characters. */
  directory: z
    .string()
    .refine((path) => isAbsolute(path) && resolve(path) === path && plainLine(path) === path),
  url: z.string(),
  pid: z.int().positive(),
  /** Start time of the process, from `processStart`. */
  started: z.string().nullable(),
  /** Namespace of the process id, from `processSpace`. */
  space: z.string(),
});

/** A running agent of this user, as it registered itself. */
export type ListedAgent = z.infer<typeof listedAgent>;

/** Maximum size of an entry in bytes; larger files are ignored. */
const longestEntry = 16 * 1024;

const entryName = /^[0-9a-f]{16}-\d+-\d+\.json$/;

/**
 * Registers this process among the user's running agents in `$XDG_STATE_HOME/holdpoint/agents`, and returns a function
 * that removes the entry. Entries contain no secrets, only locations. Throws StateFolderError, or a file system error.
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
  // The lock of this folder is held here, so any other entry for it is stale, even from another container.
  for (const name of readdirSync(folder)) {
    if (entryName.test(name) && name.startsWith(place)) rmSync(join(folder, name), { force: true });
  }
  const path = join(folder, `${place}-${pid}-${started ?? 0}.json`);
  const entry: ListedAgent = {
    agent_id: agentId,
    directory,
    url,
    pid,
    started,
    space: processSpace(),
  };
  writePrivately(path, `${JSON.stringify(entry)}\n`);
  return () => rmSync(path, { force: true });
}

/**
 * Returns the user's running agents, and removes entries of processes that have ended. Throws StateFolderError if other
 * users can write to the list.
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
    // The file name identifies the process, so this never removes the entry of a new one.
    rmSync(path, { force: true });
    return [];
  });
}

/** Identical in every session of a user, so an agent of one session is found from another. */
function listFolder(env: NodeJS.ProcessEnv): string | null {
  const folder = stateFolderOf(env);
  return folder === null ? null : join(folder, 'agents');
}

/** Reads an entry that only its user can have written; `null` for anything else. */
function readEntry(path: string): ListedAgent | null {
  const text = readSmallFile(
    path,
    ({ uid, mode, size }) =>
      uid === process.getuid?.() && (mode & 0o022) === 0 && size <= longestEntry,
  );
  if (text === null) return null;
  return listedAgent.safeParse(parseJson(text)).data ?? null;
}
