import { commandLine } from '../../actors/command-line.ts';
import {
  breakSentence,
  type ChainVerdict,
  type IntactLog,
  type LineBreak,
  logFilesOf,
  type VerifyFilesOptions,
  verdictSentence,
  verifyFiles,
} from '../../actors/records/records.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { auditSourceOf, withLog } from './audit-source.ts';
import { keptCheckpoint } from './kept-checkpoint.ts';
import { readKeys } from './read-keys.ts';

export interface AuditVerifyOptions {
  dir?: string;
  keys?: string;
  requireSigned?: boolean;
  requireGenesis?: boolean;
  continuedFrom?: string;
  checkpoint?: string;
  all?: boolean;
}

const headless: LineBreak['reason'] = 'prev_hash is not that of the first line of a log';
const olderFilesHint =
  'give the older files before it, or --continued-from HASH when they were removed on purpose';
const copyHint = 'keep the files as they are and compare them with a copy';

/** Maximum number of bad lines that `--all` lists; further ones are only counted. */
const maximumListed = 1_000;

/**
 * `audit verify FILE…`, `audit verify --dir DIR`: checks lines, chain and signatures across the files in order, or the
 * log of an agent at its configured location (docs/contract/audit.md).
 */
export async function auditVerify(
  session: Session,
  files: readonly string[],
  options: AuditVerifyOptions,
): Promise<void> {
  const { output } = session;
  if ((files.length === 0) === (options.dir === undefined)) throw unclear(files);
  const { keys, requireSigned = false, continuedFrom, checkpoint, all = false } = options;
  if (options.requireGenesis === true && continuedFrom !== undefined) throw contradictory();
  const checks = {
    keys: keys === undefined ? null : await readKeys(keys),
    kept: checkpoint === undefined ? null : await keptCheckpoint(checkpoint),
    requireSigned,
    ...(continuedFrom === undefined ? {} : { continuedFrom }),
  };
  const breaks = new BreakList();
  const stop = showProgress(output, 'reading the log');
  const verdict = await verifyLogOf(session, files, options.dir, {
    ...checks,
    ...(all ? { onBreak: (broken) => breaks.add(broken) } : {}),
  }).finally(stop);
  if (!verdict.ok) throw broken(verdict, all ? breaks : null);
  if (verdict.events === 0) throw emptied(files);
  if (requireSigned && checks.keys === null && verdict.signed > 0) throw unchecked();
  if (checks.keys !== null && verdict.signed === 0) throw stripped(verdict);
  warn(output, verdict, checks.keys !== null);
  output.line(verdictSentence(verdict));
  if (verdict.checkpoint !== undefined) output.line(completeness(verdict.checkpoint));
  output.json({ ...verdict, checked: checks.keys === null ? 0 : verdict.signed });
}

async function verifyLogOf(
  session: Session,
  files: readonly string[],
  dir: string | undefined,
  checks: VerifyFilesOptions,
): Promise<ChainVerdict> {
  if (dir === undefined) return verifyFiles(files, checks);
  const source = await auditSourceOf(dir, session);
  if ('path' in source) {
    const found = logFilesOf(source.path);
    return verifyFiles(found.length === 0 ? [source.path] : found, checks);
  }
  return withLog(source.address, async (log) => {
    await log.check();
    return log.verify(checks);
  });
}

class BreakList {
  readonly listed: LineBreak[] = [];
  count = 0;

  add(found: LineBreak): void {
    this.count += 1;
    if (this.listed.length < maximumListed) this.listed.push(found);
  }
}

function completeness({ count, after }: NonNullable<IntactLog['checkpoint']>): string {
  return `complete up to checkpoint ${count}, ${after} ${after === 1 ? 'event' : 'events'} after it`;
}

function warn(output: Session['output'], { events, signed }: IntactLog, areChecked: boolean): void {
  if (signed > 0 && !areChecked) {
    output.warn('signatures were not checked; give the public keys with --keys');
  }
  if (areChecked && signed < events) {
    output.warn(
      `${events - signed} of ${events} events are not signed; --require-signed refuses them`,
    );
  }
}

function broken(verdict: Extract<ChainVerdict, { ok: false }>, breaks: BreakList | null): CliError {
  const others =
    breaks === null ? [] : breaks.listed.map((found) => plainLine(breakSentence(found)));
  const sentence = plainLine(breakSentence(verdict));
  const count = breaks?.count ?? 1;
  return new CliError(
    count === 1 ? sentence : `${count} lines are bad, the first of them ${sentence}`,
    {
      code: 'audit_broken',
      exitCode: exitCodes.auditBroken,
      hint: verdict.reason === headless ? olderFilesHint : copyHint,
      lines: others,
      details: {
        ...verdict,
        ...(breaks === null ? {} : { breaks: breaks.listed.map((found) => ({ ...found })), count }),
      },
    },
  );
}

/** A log truncated to nothing contains no bad line that would reveal the truncation. */
function emptied(files: readonly string[]): CliError {
  return new CliError('no events: a log has some from its first start on', {
    code: 'audit_broken',
    exitCode: exitCodes.auditBroken,
    hint: files.length === 1 ? 'name all files of the log, oldest first' : copyHint,
  });
}

/** A log can lose all of its signatures with its chain made anew, so keys demand at least one. */
function stripped({ events }: IntactLog): CliError {
  return new CliError(`none of the ${events} events is signed, although keys were given`, {
    code: 'audit_broken',
    exitCode: exitCodes.auditBroken,
    hint: 'leave --keys out for a log that was never signed; otherwise compare it with a copy',
  });
}

/** An unchecked signature proves nothing. */
function unchecked(): CliError {
  return new CliError('--require-signed needs --keys: an unchecked signature proves nothing', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `give the public keys with --keys, as ${commandLine('audit keys')} prints them`,
  });
}

function unclear(files: readonly string[]): CliError {
  const isNothing = files.length === 0;
  return new CliError(
    isNothing ? "missing required argument 'file'" : 'files and --dir exclude each other',
    {
      code: 'usage',
      exitCode: exitCodes.usage,
      hint: 'name the files of one log, oldest first, or an agent with --dir',
    },
  );
}

function contradictory(): CliError {
  return new CliError('--require-genesis and --continued-from exclude each other', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'give --continued-from for a log whose oldest files are gone',
  });
}
