import { createHash, timingSafeEqual } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive } from './is-alive.ts';
import { ownNote } from './own-note.ts';
import { readSmallFile } from './read-small-file.ts';
import { randomToken } from './serve-file.ts';
import { writePrivately } from './write-privately.ts';

const listening = z.object({
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  host: z.string(),
});

const dashboardFile = z.object({ dashboards: z.array(listening).max(100) });

/** Where a dashboard of a workspace listens. */
export type DashboardListening = z.infer<typeof listening>;

/**
 * Notes in `.service/ui.json` of a workspace where a dashboard of this process listens, and returns what removes the
 * note. The agents of the workspace close that port to their tools. Throws the error of a file.
 */
export function noteDashboard(workspace: string, at: Omit<DashboardListening, 'pid'>): () => void {
  const { pid } = process;
  const folder = makeFolderIn(workspace);
  const others = () =>
    readDashboards(workspace).filter(
      (one) => isAlive(one.pid) && (one.pid !== pid || one.port !== at.port),
    );
  const write = (dashboards: DashboardListening[]): void =>
    writePrivately(join(folder, 'ui.json'), `${JSON.stringify({ dashboards })}\n`);
  write([...others(), { pid, ...at }]);
  return () => {
    const left = others();
    if (left.length > 0) write(left);
    else rmSync(join(folder, 'ui.json'), { force: true });
  };
}

/** Returns where the dashboards of a workspace listen, as its `.service/ui.json` says; empty when it says nothing. */
export function readDashboards(workspace: string): DashboardListening[] {
  const text = readSmallFile(join(workspace, '.service', 'ui.json'), isTrusted);
  if (text === null) return [];
  try {
    return dashboardFile.safeParse(JSON.parse(text)).data?.dashboards ?? [];
  } catch {
    return [];
  }
}

/** True for a file of this user, or of root. */
function isTrusted({ uid }: { uid: number }): boolean {
  return uid === 0 || uid === process.getuid?.();
}

/**
 * Returns the token of the dashboards of a workspace, kept in its `.service/ui.token`, which only its owner can read. A
 * token that an earlier dashboard of this user made stays, so that open pages find the dashboard again after a restart;
 * one that came with the folder is replaced. Throws the error of a file.
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
  // A link could lead to the state of something else.
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link`);
  return folder;
}
