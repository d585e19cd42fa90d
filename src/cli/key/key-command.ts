import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { KeyGenerateOptions } from './key-generate.ts';

export function keyCommand(session: Session): Command {
  const key = new Command('key').description('make keys');
  key
    .command('generate')
    .description('make an Ed25519 key pair to sign the audit log with')
    .option('--kid <name>', 'key name in signed lines (kid)', 'service-audit-v1')
    .option('--out <file>', 'put the private key into a new file that only you can read')
    .action(async (options: KeyGenerateOptions) => {
      const { keyGenerate } = await import('./key-generate.ts');
      await keyGenerate(session, options);
    });
  return key;
}
