import { createHash, timingSafeEqual } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../machines/json.ts';
import { readSmallFile } from '../read-small-file.ts';
import { isAlive } from './is-alive.ts';
import { ownNote } from './own-note.ts';
import { processStart } from './process-start.ts';
import { randomToken } from './serve-file.ts';
import { writePrivately } from './write-privately.ts';

const listening = z.object({
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  host: z.string(),
  /** Start time of the process, from `processStart`; absent in files of older releases. */
  started: z.string().nullable().optional(),
});

const dashboardFile = z.object({ dashboards: z.array(listening).max(100) });

/** Listening address of a workspace's dashboard. */
export type DashboardListening = z.infer<typeof listening>;

/**
 * Records in the workspace's `.service/ui.json` where a dashboard of this process listens, and returns a function that
 * removes the record. The agents of the workspace close that port to their tools. Throws file system errors.
 */
export function noteDashboard(
  workspace: string,
  at: Omit<DashboardListening, 'pid' | 'started'>,
): () => void {
  const { pid } = process;
  const folder = makeFolderIn(workspace);
  const others = () =>
    readDashboards(workspace).filter((one) => one.pid !== pid || one.port !== at.port);
  const write = (dashboards: DashboardListening[]): void =>
    writePrivately(join(folder, 'ui.json'), `${JSON.stringify({ dashboards })}\n`);
  write([...others(), { pid, started: processStart(pid), ...at }]);
  return () => {
    const left = others();
    if (left.length > 0) write(left);
    else rmSync(join(folder, 'ui.json'), { force: true });
  };
}

/** Returns the listening addresses of a workspace's running dashboards from `.service/ui.json`; empty without one. */
export function readDashboards(workspace: string): DashboardListening[] {
  const text = readSmallFile(join(workspace, '.service', 'ui.json'), isTrusted);
  if (text === null) return [];
  const found = dashboardFile.safeParse(parseJson(text)).data?.dashboards ?? [];
  return found.filter(isRunning);
}

/** A killed dashboard leaves its entry, and its process id may be reused. */
function isRunning({ pid, started }: DashboardListening): boolean {
  return isAlive(pid) && (started === undefined || started === processStart(pid));
}

/** True for a file owned by this user or root. */
function isTrusted({ uid }: { uid: number }): boolean {
  return uid === 0 || uid === process.getuid?.();
}

/**
 * Returns the token of the workspace's dashboards, stored in `.service/ui.token` and readable only by its owner. A
 * token created by an earlier dashboard of this user is reused, so open pages reconnect after a restart; a token that
 * came with the folder is replaced. Throws file system errors.
 */
export function dashboardToken(workspace: string, env: NodeJS.ProcessEnv): string {
  const path = join(makeFolderIn(workspace), 'ui.token');
  const note = ownNote('dashboards', workspace, env);
  const kept = readSmallFile(path, (stat) => isTrusted(stat) && (stat.mode & 0o077) === 0);
  if (kept !== null && isSame(digestOf(kept), note.read() ?? '')) return kept;
  const token = randomToken();
  writePrivately(path, token);
  note.write(digestOf(token));
  return token;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function makeFolderIn(workspace: string): string {
  const folder = join(workspace, '.service');
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
  if (isNew) writePrivately(join(folder, '.gitignore'), '*\n');
  // A link could redirect to another program's state.
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link`);
  return folder;
}
