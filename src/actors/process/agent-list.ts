import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { plainLine } from '../../machines/plain-line.ts';
import { isAlive } from './is-alive.ts';
import { processSpace, processStart } from './process-start.ts';
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

/** The list of running agents cannot be kept or trusted; the message says why and what to do. */
export class AgentListError extends Error {
  readonly code = 'agent_list_unusable';
}

/** An entry is small; anything larger is none. */
const longestEntry = 16 * 1024;

const entryName = /^[0-9a-f]{16}-\d+-\d+\.json$/;

/**
 * Lists this process among the running agents of its user, under `$XDG_STATE_HOME/holdpoint/agents`, and returns what
 * removes it. The list holds no secret, only where agents are. Throws AgentListError, or the error of a file.
 */
export function listAgent(
  { agentId, directory, url }: { agentId: string; directory: string; url: string },
  env: NodeJS.ProcessEnv,
): () => void {
  const folder = listFolder(env);
  if (folder === null) throw new AgentListError('this user has no home folder');
  makeFolder(folder);
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
 * AgentListError when others may write to the list.
 */
export function runningAgents(env: NodeJS.ProcessEnv): ListedAgent[] {
  const folder = listFolder(env);
  if (folder === null || !existsSync(folder)) return [];
  assertOwn(folder);
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
  const named = env['XDG_STATE_HOME'];
  if (named !== undefined && isAbsolute(named)) return join(named, 'holdpoint', 'agents');
  const home = homeOf(env);
  return home === null ? null : join(home, '.local', 'state', 'holdpoint', 'agents');
}

function homeOf(env: NodeJS.ProcessEnv): string | null {
  const named = env['HOME'];
  if (named !== undefined && isAbsolute(named)) return named;
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

/** Creates the folder where it would belong to this user; root with another's HOME creates none. */
function makeFolder(folder: string): void {
  const missing: string[] = [];
  let above = folder;
  for (; !existsSync(above); above = dirname(above)) missing.unshift(above);
  if (statSync(above).uid !== process.getuid?.()) throw new AgentListError(notOwn(above));
  // One by one: Node never returns from a recursive mkdir below a place such as /proc.
  for (const path of missing) makeOne(path);
  assertOwn(folder);
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another agent of this user may start just now.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Throws for a folder that others may write: they could lead a command to an agent of theirs. */
function assertOwn(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.()) throw new AgentListError(notOwn(folder));
  if (!lstatSync(folder).isDirectory()) throw new AgentListError(`${folder} is no folder`);
  if ((mode & 0o022) !== 0) {
    throw new AgentListError(`others may write in ${folder}; take that away with chmod go-w`);
  }
}

function notOwn(path: string): string {
  return `${path} belongs to another user`;
}

/** Reads an entry that its user alone can have written; `null` for anything else. */
function readEntry(path: string): ListedAgent | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fstatSync(file);
    const isOwn = stat.isFile() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
    if (!isOwn || stat.size > longestEntry) return null;
    return listedAgent.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? null;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}
