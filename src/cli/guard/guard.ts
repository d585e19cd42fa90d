import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { CreateError, createGateOf } from '../../agent/create-agent.ts';
import { guardService } from '../../agent/guard-service.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError } from '../cli-error.ts';
import { guardFolder } from '../hook/gate-address.ts';
import { plainLine } from '../plain-text.ts';
import { type RunOptions, run } from '../run.ts';
import type { Session } from '../session.ts';

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
  if (!existsSync(join(dir, 'service.yaml'))) {
    const made = { directory: dir, mayExist: true };
    await createGateOf(guardService(project), made).catch((error: unknown) => {
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
  await run(session, { ...options, dir });
}
