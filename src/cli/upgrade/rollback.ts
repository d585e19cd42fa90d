import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { publicKey, storeStanding } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { restoreAgent } from '../../agent/backup/restore-agent.ts';
import {
  readUpgradeNote,
  removeUpgradeNote,
  type UpgradeNote,
} from '../../agent/backup/upgrade-note.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { version as release } from '../../version.ts';
import { sqliteAgent } from '../backup/sqlite-agent.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import { passphraseToStart } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { runningAgent, startAgain, stopAgent } from './background-agent.ts';

/**
 * `rollback`: undoes the last upgrade with the release before it (docs/backup.md). A store that this release can use
 * stays; else the store of the backup takes its place, and the log stays.
 */
export async function rollback(session: Session, { dir }: { dir: string }): Promise<void> {
  const { output } = session;
  const { directory, config } = await sqliteAgent(session, dir);
  const note = noteOf(directory);
  const running = await runningAgent(directory);
  const isBackground = running?.in_background === true;
  if (running !== null && !isBackground) throw stillRuns(running.pid);
  const passphrase = isBackground ? await passphraseToStart(session, directory) : null;
  const standing = storeStanding(resolve(directory, config.store.path));
  const keepsStore = standing === null || (standing.isUsable && standing.others === 0);
  const { backup } = note;
  if (!keepsStore && (backup === null || !existsSync(backup))) throw noBackup(backup);
  if (isBackground) await stopAgent(session, directory);
  if (!keepsStore && backup !== null) {
    const stop = showProgress(output, 'restoring the store');
    const { signed_by: signer } = note;
    await restoreAgent({
      ...{ path: backup, directory, env: session.env, replaces: true },
      keys: signer === null ? null : { keys: [publicKey(signer.kid, signer.x)] },
      // An agent without a key makes backups without a signature.
      acceptsUnverified: signer === null,
      now: systemClock().now(),
    }).finally(stop);
    output.line(plainLine(`the store is the one of ${note.at}, before the upgrade; the log stays`));
    output.note('tasks that changed since then end at the start; what ran is in the log');
  } else output.line(`release ${release} can use the store as it is`);
  removeUpgradeNote(directory);
  const restored = keepsStore ? null : backup;
  if (!isBackground) {
    output.note(`start it with: ${commandLine(`serve start --dir ${shellWord(directory)}`)}`);
    return output.json({ agent_id: config.agent_id, release, restored, url: null });
  }
  const flags = running?.flags ?? [];
  const url = await startAgain(session, { directory, flags, passphrase });
  output.line(`the agent runs at ${url} with release ${release}`);
  output.json({ agent_id: config.agent_id, release, restored, url });
}

/** Returns the upgrade to undo. Throws CliError if there is none, or if this is the release that it led to. */
function noteOf(directory: string): UpgradeNote {
  const note = readUpgradeNote(directory);
  if (note === null) {
    throw new CliError(plainLine(`no upgrade of the agent in ${directory} is recorded`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: 'restore one of its backups with restore instead',
    });
  }
  if (note.to !== release) return note;
  throw new CliError(`release ${release} is the one that the upgrade led to`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `run rollback with release ${note.from ?? 'that ran before'}`,
  });
}

function stillRuns(pid: number): CliError {
  return new CliError(`the agent runs as process ${pid}`, {
    code: 'already_running',
    hint: 'stop it with its service manager, then run rollback again',
  });
}

function noBackup(path: string | null): CliError {
  const what = path === null ? 'the upgrade made no backup' : `the backup ${path} is gone`;
  return new CliError(plainLine(`${what}, and release ${release} cannot use the present store`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'run the later release again, or restore another backup',
  });
}
