import { Command } from 'commander';
import { durationValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { AgentOptions } from '../task/agent-session.ts';

/** Defines `delegate`, `delegate list` and `delegate end`. */
export function delegateCommand(session: Session): Command {
  const delegate = new Command('delegate')
    .description('let a person decide for another one, until a time')
    .argument('<from>', 'email of the person who gives the right')
    .argument('<to>', 'email of the person who decides meanwhile')
    .option('--until <time>', 'the end, such as 2026-12-27T09:00:00Z or a duration such as 3d');
  agentOptions(delegate).action(
    async (from: string, to: string, options: AgentOptions & { until?: string }) => {
      const { delegateGive } = await import('./delegate.ts');
      await delegateGive(session, { from, to }, options);
    },
  );
  agentOptions(delegate.command('list').description('list the delegations in force')).action(
    async (_: unknown, command: Command) => {
      const { delegateList } = await import('./delegate.ts');
      await delegateList(session, command.optsWithGlobals<AgentOptions>());
    },
  );
  agentOptions(
    delegate.command('end').description('end a delegation').argument('<id>', 'its id in the list'),
  ).action(async (id: string, _: unknown, command: Command) => {
    const { delegateEnd } = await import('./delegate.ts');
    await delegateEnd(session, id, command.optsWithGlobals<AgentOptions>());
  });
  return delegate;
}

function agentOptions(command: Command): Command {
  return command
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--url <url>', 'the address of an agent, instead of --dir')
    .option(
      '--token-file <file>',
      "a file with the token (default: $SERVICE_TOKEN, then the agent's own)",
    )
    .option('--timeout <duration>', 'give up after this long, such as 90s; exit 7', durationValue);
}
