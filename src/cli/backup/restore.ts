import { relative, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { loadConfig } from '../../actors/config/config.ts';
import type { PublicKeySet } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { checkBackupFile, restoreAgent } from '../../agent/backup/restore-agent.ts';
import { lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { readKeys } from '../audit/read-keys.ts';
import { counted } from '../counted.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';

export interface RestoreOptions {
  dir: string;
  replace?: boolean;
  check?: boolean;
  keys?: string;
  acceptUnverified?: boolean;
}

/** `restore FILE`: restores an agent from a backup, or only checks the file (docs/backup.md). */
export async function restore(
  session: Session,
  file: string,
  options: RestoreOptions,
): Promise<void> {
  const { output, env } = session;
  const path = resolve(file);
  const keys = options.keys === undefined ? null : await readKeys(options.keys);
  if (options.check === true) return check(session, path, keys);
  const directory = resolve(options.dir);
  const stop = showProgress(output, 'restoring the backup');
  const restored = await restoreAgent({
    path,
    directory,
    env,
    replaces: options.replace === true,
    keys,
    acceptsUnverified: options.acceptUnverified === true,
    now: systemClock().now(),
  }).finally(stop);
  const { head, files, log, isCurrent, former, signedBy } = restored;
  const what = files === 0 ? 'the store' : `the store, the log and ${counted(files, 'file')}`;
  output.line(
    plainLine(`${head.agent_id} is restored in ${directory} from ${head.created_at}: ${what}`),
  );
  if (signedBy === null) output.warn(unchecked);
  else output.note(plainLine(`the signature is valid: key ${signedBy}`));
  if (files > 0 && restored.config.audit.sign) output.note(newKey);
  if (!isCurrent) output.note(afterOldLog);
  else
    output.note(
      'the log in the folder stays; tasks that it shows as changed since end at the next start',
    );
  if (former !== null) output.note(plainLine(`the former store is ${relative(directory, former)}`));
  const loaded = loadConfig(directory, await lenientEnvironment(directory, env));
  for (const { message } of loaded.ok ? [] : loaded.problems) output.warn(plainLine(message));
  output.note(`start it with: ${commandLine(`serve start --dir ${shellWord(directory)}`)}`);
  output.json({
    agent_id: head.agent_id,
    directory,
    created_at: head.created_at,
    files,
    log,
    former_store: former,
    signed_by: signedBy,
  });
}

const unchecked = 'the signature was not checked, so the backup may be forged';

const newKey =
  'a backup has no private key: the next start makes a new one for the log; keep what audit keys prints then';

/** Explains what the next start does, since nobody can know what happened after the backup. */
const afterOldLog =
  'the next start ends tasks that were running, warns the approvers of waiting calls, and suspends remembered approvals; make sure that the agent runs nowhere else';

async function check({ output }: Session, path: string, keys: PublicKeySet | null): Promise<void> {
  const stop = showProgress(output, 'checking the backup');
  const { head, files, signedBy } = await checkBackupFile(path, keys).finally(stop);
  const { agent_id, created_at, release } = head;
  output.line(
    plainLine(
      `${path} is whole: agent ${agent_id}, ${created_at}, release ${release}, ${counted(files.length, 'file')}`,
    ),
  );
  if (signedBy === null) {
    output.warn('its signature was not checked; give the public keys with --keys');
  } else output.note(plainLine(`the signature is valid: key ${signedBy}`));
  const signed = { signed_by: signedBy };
  output.json({ file: path, agent_id, created_at, release, files: files.length, ...signed });
}
