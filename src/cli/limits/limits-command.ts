import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { AgentOptions } from '../task/agent-session.ts';
import { withAgentOptions } from '../with-agent-options.ts';
import type { SettleOptions } from './limits.ts';

/** Defines `limits`, `limits unknown` and `limits settle`. */
export function limitsCommand(session: Session): Command {
  const limits = new Command('limits').description('limits over calls, with what is used of them');
  withAgentOptions(limits).action(async (options: AgentOptions) => {
    const { limitsList } = await import('./limits.ts');
    await limitsList(session, options);
  });
  const unknown = limits
    .command('unknown')
    .description('list the calls whose outcome nobody knows');
  withAgentOptions(unknown)
    .option('--settled', 'list those that people settled')
    .action(async (_: unknown, command: Command) => {
      const { limitsUnknown } = await import('./limits.ts');
      await limitsUnknown(session, command.optsWithGlobals());
    });
  limits.addCommand(settleCommand(session));
  return limits;
}

/** Defines `effects settle`, which is `limits settle`. */
export function effectsCommand(session: Session): Command {
  const effects = new Command('effects').description('effects of calls that must not happen twice');
  effects.addCommand(settleCommand(session));
  return effects;
}

function settleCommand(session: Session): Command {
  const settle = new Command('settle')
    .description('state whether a call ran whose outcome nobody knows, or that failed')
    .argument('<call>', 'id of the call')
    .option('--ran', 'the call ran, and counts')
    .option('--not-run', 'the call did not run; it counts no more, and its effect is free')
    .option('--reason <text>', 'why you are certain')
    .option('--approver <name>', 'your name (default: your login)');
  return withAgentOptions(settle).action(async (call: string, _: unknown, command: Command) => {
    const { limitsSettle } = await import('./limits.ts');
    await limitsSettle(session, call, command.optsWithGlobals<SettleOptions>());
  });
}
