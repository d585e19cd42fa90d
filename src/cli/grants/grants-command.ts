import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { AgentOptions } from '../task/agent-session.ts';
import { withAgentOptions } from '../with-agent-options.ts';

/** Defines `grants list` and `grants revoke`. */
export function grantsCommand(session: Session): Command {
  const grants = new Command('grants').description('approvals that release later calls');
  const list = grants.command('list').description('list them, with their remaining uses');
  withAgentOptions(list).action(async (options: AgentOptions) => {
    const { grantsList } = await import('./grants.ts');
    await grantsList(session, options);
  });
  const revoke = grants.command('revoke').description('end one').argument('<id>', 'its id');
  withAgentOptions(revoke).action(async (id: string, options: AgentOptions) => {
    const { grantsRevoke } = await import('./grants.ts');
    await grantsRevoke(session, id, options);
  });
  return grants;
}
