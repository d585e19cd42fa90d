import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { type StoreStanding, storeStanding } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { LaunchError } from '../../actors/workspace/workspace.ts';
import {
  type Backup,
  backupAgent,
  backupName,
  pruneBackups,
} from '../../agent/backup/backup-agent.ts';
import { backupKeys } from '../../agent/backup/backup-keys.ts';
import { type UpgradeNote, writeUpgradeNote } from '../../agent/backup/upgrade-note.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { assumedEnvironment } from '../../agent/start/lenient-environment.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { version as release } from '../../version.ts';
import { sqliteAgent } from '../backup/sqlite-agent.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { counted } from '../counted.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import { givenPassphrase, passphraseToStart } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { runningAgent, startAgain, stopAgent } from './background-agent.ts';

/** Number of backups of upgrades that are kept; only the last upgrade can be undone. */
const keptBackups = 3;

export interface UpgradeOptions {
  dir: string;
  check?: boolean;
}

/**
 * `upgrade`: checks that this release can run an agent, backs it up, and restarts an agent in the background with this
 * release (docs/backup.md).
 */
export async function upgrade(session: Session, options: UpgradeOptions): Promise<void> {
  const { output } = session;
  const { directory, config } = await sqliteAgent(session, options.dir);
  const { problems, warnings } = await checkAgent(
    directory,
    await assumedEnvironment(directory, session.env),
  );
  if (problems.length > 0) throw configFailure(problems, warnings);
  const running = await runningAgent(directory);
  const standing = storeStanding(resolve(directory, config.store.path));
  const from = running?.version ?? null;
  if (standing !== null) checkStore(standing, config);
  printPlan(session, { config, from, standing });
  const plan = {
    agent_id: config.agent_id,
    from,
    to: release,
    store: standing === null ? null : { from: standing.version, to: standing.nextVersion },
    reversible: standing?.isReversible ?? true,
    waiting: standing?.waiting ?? 0,
  };
  if (options.check === true) return output.json({ ...plan, backup: null, url: null });
  const isBackground = running?.in_background === true;
  const passphrase = isBackground ? await passphraseToStart(session, directory) : null;
  const backup = standing === null ? null : await backUp(session, directory, config);
  const at = new Date(systemClock().now()).toISOString();
  const made = { backup: backup?.path ?? null, signed_by: backup?.signed_by ?? null };
  writeUpgradeNote(directory, { from, to: release, ...made, at });
  if (backup !== null) output.line(plainLine(`backed up in ${backup.path}`));
  if (!isBackground) {
    output.note(
      running === null
        ? `start it with: ${commandLine(`serve start --dir ${shellWord(directory)}`)}`
        : 'restart it with its service manager now; this release then runs it',
    );
    return output.json({ ...plan, backup: backup?.path ?? null, url: null });
  }
  await stopAgent(session, directory);
  const flags = running?.flags ?? [];
  const url = await startAgain(session, { directory, flags, passphrase }).catch(
    (error: unknown) => {
      throw error instanceof LaunchError ? notStarted(error, directory, from) : error;
    },
  );
  output.line(`the agent runs at ${url} with release ${release}`);
  output.json({ ...plan, backup: backup?.path ?? null, url });
}

/** Throws CliError for a store that only a later release can use. */
function checkStore(
  { isUsable, version, nextVersion }: StoreStanding,
  { agent_id }: ServiceConfig,
): void {
  if (isUsable) return;
  throw new CliError(
    plainLine(
      `the store of ${agent_id} has version ${version}, and release ${release} reads ${nextVersion} at most`,
    ),
    {
      code: 'store_unusable',
      exitCode: exitCodes.invalid,
      hint: 'upgrade to a later release, or restore the backup of the last upgrade with rollback',
    },
  );
}

interface Plan {
  config: ServiceConfig;
  from: string | null;
  standing: StoreStanding | null;
}

function printPlan({ output }: Session, { config, from, standing }: Plan): void {
  const { agent_id: id, security, gate } = config;
  const before = from === null ? 'which does not run' : `which runs with release ${from}`;
  output.line(plainLine(`release ${release} can run ${id}, ${before}`));
  if (standing === null) return;
  const { version, nextVersion, isReversible, others, waiting } = standing;
  if (version < nextVersion) {
    const after = isReversible
      ? 'the release before it can still use the store'
      : 'an earlier release can use the store only after a rollback';
    output.line(`its store goes from version ${version} to ${nextVersion}; ${after}`);
  }
  if (others > 0) {
    output.warn(
      `${counted(others, 'unfinished task')} can only be continued by the release that saved ${others === 1 ? 'it' : 'them'}`,
    );
  }
  // A gate keeps its waiting calls.
  if (waiting > 0 && gate === undefined && security.defer.on_restart === 'abandon') {
    output.warn(
      `${counted(waiting, 'waiting call')} ${waiting === 1 ? 'ends' : 'end'} at the restart; set security.defer.on_restart: resume to keep them`,
    );
  }
}

type SignedBackup = Backup & Pick<UpgradeNote, 'signed_by'>;

async function backUp(
  session: Session,
  directory: string,
  config: ServiceConfig,
): Promise<SignedBackup> {
  const { output, env } = session;
  const folder = join(directory, '.service', 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = systemClock().now();
  const passphrase = await givenPassphrase(session);
  const { signer, trusted } = await backupKeys(directory, config, { env, passphrase });
  const path = join(folder, backupName(config.agent_id, now));
  const stop = showProgress(output, 'writing the backup');
  const made = await backupAgent({ directory, config, path, signer, now }).finally(stop);
  pruneBackups(path, config.agent_id, keptBackups);
  if (made.fault !== null) {
    output.warn(plainLine(`rollback cannot restore this store, since it ${made.fault}`));
  }
  const signed_by = trusted.keys.find(({ kid }) => kid === signer?.kid) ?? null;
  return { ...made, signed_by };
}

function notStarted({ message }: LaunchError, directory: string, from: string | null): CliError {
  const lines = plainText(message).split('\n');
  const folder = shellWord(directory);
  return new CliError(`release ${release} did not start: ${lines.at(-1) ?? message}`, {
    code: 'start_failed',
    lines: lines.slice(0, -1),
    hint: `run ${commandLine(`rollback --dir ${folder}`)} with release ${from ?? 'that ran before'}`,
  });
}
