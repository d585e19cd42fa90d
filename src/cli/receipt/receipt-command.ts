import { Command } from 'commander';
import { addValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import { withAgentOptions } from '../with-agent-options.ts';
import type { ReceiptOptions } from './receipt-get.ts';
import type { ReceiptVerifyOptions } from './receipt-verify.ts';

/** Defines `receipt` and `receipt verify`. */
export function receiptCommand(session: Session): Command {
  const receipt = withAgentOptions(
    new Command('receipt')
      .description('fetch the signed receipts of the calls of a task')
      .argument('<task>', 'the id of the task')
      .argument('[call]', 'the id of a call (default: every call that has ended)'),
  )
    .option('-o, --output <file>', 'a new file (default: stdout)')
    .action(async (task: string, call: string | undefined, options: ReceiptOptions) => {
      const { receiptGet } = await import('./receipt-get.ts');
      await receiptGet(session, { task, call }, options);
    });
  receipt
    .command('verify')
    .description('check receipts offline; exit 6 when one was changed or has a foreign signature')
    .argument('<file>', 'receipts, one a line')
    .option('--dir <dir>', 'agent folder with the keys, in place of --keys')
    .option('--keys <file>', 'public keys to check with: a JWKS file or its address')
    .option('--log <file>', 'a log file that must contain the lines; may be repeated', addValue)
    .action(async (file: string, _: unknown, command: Command) => {
      const { receiptVerify } = await import('./receipt-verify.ts');
      await receiptVerify(session, file, command.optsWithGlobals<ReceiptVerifyOptions>());
    });
  return receipt;
}
