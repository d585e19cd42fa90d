import { Command } from 'commander';
import { countValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { AuditTailOptions } from './audit-tail.ts';
import type { AuditVerifyOptions } from './audit-verify.ts';

/** Defines `audit verify` and `audit tail`. */
export function auditCommand(session: Session): Command {
  const audit = new Command('audit').description('check and read the audit log');
  audit
    .command('verify')
    .description('check that no line was changed, added or removed; exit 6 when one was')
    .argument('<file...>', 'the files of one log, oldest first')
    .option('--keys <file>', 'public keys (JWKS) to check signatures with; not available yet')
    .option('--require-signed', 'fail unless every line is signed')
    .action(async (files: string[], options: AuditVerifyOptions) => {
      const { auditVerify } = await import('./audit-verify.ts');
      await auditVerify(session, files, options);
    });
  audit
    .command('tail')
    .description('show the latest events')
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--file <file>', "a log (default: the agent's own)")
    .option('--task <id>', 'only events of this task')
    .option('--event <name>', 'only events of this name')
    .option('-n, --lines <count>', 'how many events to begin with', countValue, 20)
    .option('-f, --follow', 'go on with new events until interrupted')
    .action(async (options: AuditTailOptions) => {
      const { auditTail } = await import('./audit-tail.ts');
      await auditTail(session, options);
    });
  return audit;
}
