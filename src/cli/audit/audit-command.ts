import { Command, Option } from 'commander';
import { addValue, countValue, hashValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { AuditBundleOptions } from './audit-bundle.ts';
import type { AuditDecisionsOptions } from './audit-decisions.ts';
import type { AuditExportOptions } from './audit-export.ts';
import type { AuditKeysOptions } from './audit-keys.ts';
import type { AuditTailOptions } from './audit-tail.ts';
import type { AuditVerifyOptions } from './audit-verify.ts';
import { exportFormats } from './export-formats.ts';

function timeOption(events: string): string {
  return `${events}: RFC 3339, or a duration such as 7d for that long ago`;
}

/** Defines `audit verify`, `audit keys`, `audit tail`, `audit decisions`, `audit export` and `audit bundle`. */
export function auditCommand(session: Session): Command {
  const audit = new Command('audit').description('check and read the audit log');
  audit
    .command('verify')
    .description('check that no line was changed, added or removed; exit 6 when one was')
    .argument('[file...]', 'the files of one log, oldest first')
    .option('--dir <dir>', 'agent folder whose log is verified, in place of files')
    .option('--keys <file>', 'public keys to check signatures with: a JWKS file or its address')
    .option('--require-signed', 'fail unless every line is signed')
    .option(
      '--require-genesis',
      'fail unless the first line begins the log (always so without --continued-from)',
    )
    .option(
      '--continued-from <hash>',
      'hash of the line before the first one, when the oldest files were deleted',
      hashValue,
    )
    .option(
      '--checkpoint <point>',
      'fail unless the log contains it: COUNT:HASH or a file with its line',
    )
    .option('--all', 'list every bad line, not only the first')
    .action(async (files: string[], options: AuditVerifyOptions) => {
      const { auditVerify } = await import('./audit-verify.ts');
      await auditVerify(session, files, options);
    });
  audit
    .command('keys')
    .description('print the public keys that signatures of the log are checked with (JWKS)')
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--url <url>', 'address of an agent that runs')
    .action(async (options: AuditKeysOptions) => {
      const { auditKeys } = await import('./audit-keys.ts');
      await auditKeys(session, options);
    });
  audit
    .command('tail')
    .description('show the latest events')
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--file <file>', "a log file (default: the agent's own)")
    .option('--task <id>', 'only events of this task')
    .option('--event <name>', 'only events of this name; a final * stands for any ending')
    .option('--from <time>', timeOption('events from this time on'))
    .option('--to <time>', timeOption('events up to this time'))
    .option(
      '-n, --lines <count>',
      'how many events to begin with (default: 20, with --from or --to all)',
      countValue,
    )
    .option('-f, --follow', 'follow new events until interrupted')
    .action(async (options: AuditTailOptions) => {
      const { auditTail } = await import('./audit-tail.ts');
      await auditTail(session, options);
    });
  audit
    .command('decisions')
    .description('list who decided on which call, and what came of it; tasks and holds')
    .option('--from <time>', timeOption('decisions from this time on'))
    .option('--to <time>', timeOption('decisions up to this time'))
    .option('--person <name>', 'only decisions or requests of this person')
    .option('--tool <name>', 'only calls of this tool')
    .option('--task <id>', 'only calls of this task or hold')
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--file <file>', "a log file (default: the agent's own)")
    .option('--csv', 'as CSV, with all columns')
    .option('-o, --output <file>', 'CSV to a new file, readable by its owner alone')
    .action(async (options: AuditDecisionsOptions) => {
      const { auditDecisions } = await import('./audit-decisions.ts');
      await auditDecisions(session, options);
    });
  audit
    .command('export')
    .description('export the events of a task, of a range of time, or both')
    .option('--task <id>', 'only events of this task')
    .option('--from <time>', timeOption('events from this time on'))
    .option('--to <time>', timeOption('events up to this time'))
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--file <file>', "a log file (default: the agent's own)")
    .option('-o, --output <file>', 'a new file, readable by its owner alone (default: stdout)')
    .addOption(
      new Option('--format <format>', 'how to write events (default: ndjson)').choices(
        exportFormats,
      ),
    )
    .option('--proof', 'one JSON document with the place and hash of each line')
    .action(async (options: AuditExportOptions) => {
      const { auditExport } = await import('./audit-export.ts');
      await auditExport(session, options);
    });
  audit
    .command('bundle')
    .description(
      'write lines, keys, policies and verdicts of all agents of a folder to one ZIP file',
    )
    .requiredOption('-o, --output <file>', 'a new file, readable by its owner alone')
    .option('--dir <dir>', 'the workspace: an agent, or a folder with agents in it', '.')
    .option('--agent <id>', 'only this agent; repeatable', addValue)
    .option('--task <id>', 'only events of this task')
    .option('--from <time>', timeOption('events from this time on'))
    .option('--to <time>', timeOption('events up to this time'))
    .action(async (options: AuditBundleOptions) => {
      const { auditBundle } = await import('./audit-bundle.ts');
      await auditBundle(session, options);
    });
  return audit;
}
