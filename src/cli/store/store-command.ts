import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { StoreCopyOptions } from './store-copy.ts';
import type { StoreMigrateOptions } from './store-migrate.ts';
import type { StoreRestoredOptions } from './store-restored.ts';

export function storeCommand(session: Session): Command {
  const store = new Command('store').description('manage a store in PostgreSQL');
  store
    .command('migrate')
    .description('update the tables of an agent before its daemons start')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: StoreMigrateOptions) => {
      const { storeMigrate } = await import('./store-migrate.ts');
      await storeMigrate(session, options);
    });
  store
    .command('restored')
    .description('settle tables that were restored to an earlier time, so that no call runs twice')
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--moved', 'no daemon ran since the copy: end no task')
    .action(async (options: StoreRestoredOptions) => {
      const { storeRestored } = await import('./store-restored.ts');
      await storeRestored(session, options);
    });
  store
    .command('copy')
    .description('copy the SQLite store of a stopped agent, with its log, into its PostgreSQL')
    .option('--dir <dir>', "the agent's folder", '.')
    .requiredOption('--from <file>', 'the SQLite file, such as .service/tasks.db')
    .option('--log <file>', "the current file of its log (default: the agent's own)")
    .action(async (options: StoreCopyOptions) => {
      const { storeCopy } = await import('./store-copy.ts');
      await storeCopy(session, options);
    });
  return store;
}
