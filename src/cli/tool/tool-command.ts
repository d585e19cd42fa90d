import { Command } from 'commander';
import { addValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { ToolNewOptions } from './tool-new.ts';

export function toolCommand(session: Session): Command {
  const tool = new Command('tool').description('write tools of your own');
  tool
    .command('new')
    .description('create a tool: its section in SKILL.md, its script and the rule that holds it')
    .argument('<name>', 'its name, such as cancel_order')
    .option('--python', 'write the script in Python')
    .option('--sh', 'write the script in shell')
    .option('--js', 'write the script in JavaScript')
    .option(
      '--arg <name:type>',
      'an argument, such as order_id, amount:number, tags:string[] or note:string? for an optional one; may be repeated',
      addValue,
    )
    .option('--description <text>', 'what it does and when to use it; the model reads this')
    .option('--held', 'hold its calls for a person')
    .option('--to <target>', 'approval target (default: that of the first rule, else the console)')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (name: string, options: ToolNewOptions) => {
      const { toolNew } = await import('./tool-new.ts');
      await toolNew(session, name, options);
    });
  return tool;
}
