import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { AgentOptions } from '../task/agent-session.ts';
import { withAgentOptions } from '../with-agent-options.ts';

/** Defines `delegate`, `delegate list` and `delegate end`. */
export function delegateCommand(session: Session): Command {
  const delegate = new Command('delegate')
    .description('let a person decide for another one, until a time')
    .argument('<from>', 'email of the person who gives the right')
    .argument('<to>', 'email of the person who decides during that time')
    .option('--until <time>', 'the end, such as 2026-12-27T09:00:00Z or a duration such as 3d');
  withAgentOptions(delegate).action(
    async (from: string, to: string, options: AgentOptions & { until?: string }) => {
      const { delegateGive } = await import('./delegate.ts');
      await delegateGive(session, { from, to }, options);
    },
  );
  withAgentOptions(delegate.command('list').description('list the delegations in force')).action(
    async (_: unknown, command: Command) => {
      const { delegateList } = await import('./delegate.ts');
      await delegateList(session, command.optsWithGlobals<AgentOptions>());
    },
  );
  withAgentOptions(
    delegate.command('end').description('end a delegation').argument('<id>', 'its id in the list'),
  ).action(async (id: string, _: unknown, command: Command) => {
    const { delegateEnd } = await import('./delegate.ts');
    await delegateEnd(session, id, command.optsWithGlobals<AgentOptions>());
  });
  return delegate;
}
