import { Argument, Command } from 'commander';
import { commandLine } from '../../actors/command-line.ts';
import type { Session } from '../session.ts';
import { type Shell, shellScript, shells } from './shell-scripts.ts';

/** Defines `completion SHELL`: prints the script that completes command lines in a shell. */
export function completionCommand({ output }: Session): Command {
  return new Command('completion')
    .description('print the script that completes commands in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', help)
    .action((shell: Shell) => {
      const script = shellScript(shell);
      if (!output.isJson) output.stdout.write(script);
      output.json({ shell, script });
    });
}

function help(): string {
  return `
Load it in the file that your shell starts with:
  bash  source <(${commandLine('completion bash')})
  zsh   source <(${commandLine('completion zsh')})   # after compinit
  fish  ${commandLine('completion fish')} | source`;
}
