import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { commandLine } from '../../actors/command-line.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { packageRoot } from '../../package-root.ts';
import type { Session } from '../session.ts';

/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof shells)[number];

/** The path of this installation's program. Completion must never run the program named on the command line. */
const program = join(packageRoot, 'bin/holdpoint');

/** Returns the completion script for a shell. */
export function shellScript(shell: Shell): string {
  return scripts[shell](shellWord(program));
}

const scripts: Record<Shell, (command: string) => string> = { bash, zsh, fish };

/** Bash splits words at = and :, so the script joins them again and removes the part already on the line. */
function bash(command: string): string {
  return `# bash completion for holdpoint; load it with: source <(${commandLine('completion bash')})
_holdpoint() {
  local rest=\${COMP_LINE:0:COMP_POINT} words=() count=0 word piece='' held i glued also='' line
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]} glued=1
    while [[ $rest == [[:space:]]* ]]; do rest=\${rest:1} glued=0; done
    if ((i == COMP_CWORD)); then word=$rest; fi
    rest=\${rest#"$word"}
    if ((i > 0 && glued)); then words[count - 1]+=$word; else words[count]=$word count=$((count + 1)); fi
    piece=$word
  done
  word=\${words[count - 1]}
  if [[ $piece == [=:] ]]; then piece=''; fi
  held=\${word%"$piece"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $also ]]; then also=$line; continue; fi
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$held"}")
  done < <(${command} complete -- "\${words[@]:1}" 2>/dev/null)
  case $also in files) also=-f ;; folders) also=-d ;; *) return ;; esac
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$also" -- "$piece")
}
complete -F _holdpoint holdpoint
`;
}

function zsh(command: string): string {
  return `#compdef holdpoint
# zsh completion for holdpoint; load it with: source <(${commandLine('completion zsh')})
_holdpoint() {
  local -a lines offered
  local line
  lines=("\${(@f)$(${command} complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    offered+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#offered )); then _describe -t values holdpoint offered; fi
  if [[ $PREFIX == --*=* ]]; then compset -P '*='; fi
  case $lines[1] in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
compdef _holdpoint holdpoint
`;
}

function fish(command: string): string {
  return `# fish completion for holdpoint; load it with: ${commandLine('completion fish')} | source
function __holdpoint_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (${command} complete -- $words[2..-1] 2>/dev/null)
    set -q lines[2]; and printf '%s\\n' $lines[2..-1]
    switch "$lines[1]"
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
    end
end
complete -c holdpoint -f -a '(__holdpoint_complete)'
`;
}

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
