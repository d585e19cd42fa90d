import { Command } from 'commander';
import { jsonValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { ExplainOptions } from './policy-explain.ts';

/** Defines `policy explain`. */
export function policyCommand(session: Session): Command {
  const policy = new Command('policy').description('ask what governs the calls of an agent');
  policy
    .command('explain')
    .description('say what would happen to a call now, layer by layer; nothing is run or asked')
    .argument('<tool>', 'the name of the tool')
    .option('--args <json>', 'the arguments of the call', jsonValue, {})
    .option('--acr <acr>', 'the assurance level the caller has signed in with')
    .option('--message <text>', 'what the caller asked for; intent alignment needs it')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (tool: string, options: ExplainOptions) => {
      const { policyExplain } = await import('./policy-explain.ts');
      await policyExplain(session, tool, options);
    });
  return policy;
}
