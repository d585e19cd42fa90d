import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { CreateError, createGateOf } from '../../agent/create/create-agent.ts';
import { guardService } from '../../agent/policy/guard-service.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { guardFolder } from '../hook/gate-address.ts';
import { plainLine } from '../plain-text.ts';
import { type RunOptions, run } from '../run.ts';
import type { Session } from '../session.ts';
import { unaskedHooks } from './unasked-hooks.ts';

export interface GuardOptions extends Omit<RunOptions, 'dir'> {
  dir?: string;
  /** The project whose files may be read and written. */
  root?: string;
}

/** `guard`: runs the gate of the coding agents, and creates it before its first start (docs/guard.md). */
export async function guard(session: Session, options: GuardOptions): Promise<void> {
  const { output } = session;
  const dir = resolve(options.dir ?? guardFolder());
  const project = resolve(options.root ?? '.');
  const isNew = !existsSync(join(dir, 'service.yaml'));
  // Without --root, rules that exist are not of this folder.
  if (isNew || options.root !== undefined) refuseOverlap(dir, project);
  if (isNew) {
    const made = { directory: dir, mayExist: true };
    const root = realOf(project);
    const hasGit = existsSync(join(root, '.git'));
    await createGateOf(guardService({ root, hasGit }), made).catch((error: unknown) => {
      if (!(error instanceof CreateError)) throw error;
      throw new CliError(error.message, { code: error.code, cause: error });
    });
    output.note(plainLine(`wrote the rules for ${project} to ${join(dir, 'service.yaml')}`));
  } else if (options.root !== undefined) {
    const text = plainLine(`${join(dir, 'service.yaml')} exists and keeps its rules`);
    output.warn(`${text}; choose another folder with --dir for another project`);
  }
  const flags = `--dir ${shellWord(dir)}`;
  output.note(plainLine(`see what waits:  ${commandLine(`task deferrals ${flags}`)}`));
  output.note(
    plainLine(`decide:          ${commandLine(`task approve ID ${flags}`)}, or task reject`),
  );
  output.note(plainLine(`or in a browser: ${commandLine(`ui --dir ${shellWord(dirname(dir))}`)}`));
  const clock = systemClock();
  const timer = clock.setTimeout(() => {
    const unasked = unaskedHooks(dir);
    if (unasked !== null) output.warn(unasked);
  }, hookWithin);
  await run(session, { ...options, dir }).finally(() => clock.clearTimeout(timer));
}

/** Milliseconds after the start in which the first hook usually asks. */
const hookWithin = 120_000;

/**
 * Throws CliError if the agent could write the rules of the gate: its folder is the project, below it, or above it, so that
 * a name of the project leads to it.
 */
function refuseOverlap(dir: string, project: string): void {
  const [gate, root] = [realOf(dir), realOf(project)];
  if (!isBelow(gate, root) && !isBelow(root, gate)) return;
  throw new CliError(
    plainLine(
      `the gate in ${dir} and the project in ${project} are one folder or one inside of the other`,
    ),
    {
      code: 'gate_in_project',
      exitCode: exitCodes.usage,
      hint: 'choose a folder outside of the project with --dir, since the agent may write files of the project',
    },
  );
}

/** Returns a path without links, also of a folder that does not exist yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
