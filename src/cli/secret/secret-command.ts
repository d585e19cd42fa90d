import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { SecretOptions } from './secret-place.ts';

export function secretCommand(session: Session): Command {
  const secret = new Command('secret').description("keep an agent's secrets in an encrypted file");
  // Accepts a value typed by mistake, because the default error message would repeat it.
  add(secret, 'set <name> [typed...]', 'store a secret; its value comes from stdin or a prompt')
    .usage('[options] <name>')
    .option('--plain', 'keep it in .env without a passphrase, as init does')
    .action(async (name: string, typed: string[], options: SecretOptions) => {
      const { secretSet } = await import('./secret-set.ts');
      await secretSet(session, [name, ...typed].join(' '), options);
    });
  add(secret, 'get <name>', 'print the value of a secret').action(
    async (name: string, options: SecretOptions) => {
      const { secretGet } = await import('./secret-get.ts');
      await secretGet(session, name, options);
    },
  );
  add(secret, 'list', 'print the names of the secrets').action(async (options: SecretOptions) => {
    const { secretList } = await import('./secret-list.ts');
    await secretList(session, options);
  });
  add(secret, 'delete <name>', 'remove a secret')
    .option('--plain', 'remove it from .env, and not from the encrypted file')
    .action(async (name: string, options: SecretOptions) => {
      const { secretDelete } = await import('./secret-delete.ts');
      await secretDelete(session, name, options);
    });
  return secret;
}

function add(secret: Command, usage: string, description: string): Command {
  return secret
    .command(usage)
    .description(description)
    .option('--dir <dir>', "the agent's folder", '.');
}
