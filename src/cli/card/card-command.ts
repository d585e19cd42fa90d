import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { CardCheckOptions } from './card-check.ts';

/** Defines `card check`. */
export function cardCommand(session: Session): Command {
  const card = new Command('card').description('look at the agent cards of A2A agents');
  card
    .command('check')
    .description('ask an agent for its card in every form, and check it against A2A 0.3 and 1.0')
    .argument('<url>', 'where the agent answers, or where its card is')
    .option('--loopback', 'it may be on this machine; no other private address is asked')
    .action(async (url: string, options: CardCheckOptions) => {
      const { cardCheck } = await import('./card-check.ts');
      await cardCheck(session, url, options);
    });
  return card;
}
