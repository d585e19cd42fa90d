import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { CardCheckOptions } from './card-check.ts';

/** Defines `card check`. */
export function cardCommand(session: Session): Command {
  const card = new Command('card').description('inspect the agent cards of A2A agents');
  card
    .command('check')
    .description('fetch the card of an agent in every form, and check it against A2A 0.3 and 1.0')
    .argument('<url>', 'where the agent answers, or where its card is')
    .option('--loopback', 'allow an agent on this machine; other private addresses stay refused')
    .action(async (url: string, options: CardCheckOptions) => {
      const { cardCheck } = await import('./card-check.ts');
      await cardCheck(session, url, options);
    });
  return card;
}
