import type { Plan } from './model-server.ts';

/** The shells of hosts, by name, and how each takes a command. */
const shells: Readonly<Record<string, (command: string) => object>> = {
  Bash: (command) => ({ command }),
  bash: (command) => ({ command, description: 'clean up' }),
  exec_command: (cmd) => ({ cmd }),
  shell: (command) => ({ command: ['bash', '-lc', command] }),
  shell_command: (command) => ({ command }),
  local_shell: (command) => ({ command }),
};

/** Runs a command once in the shell of a host. */
export function runInShell(command: string): Plan {
  return (tools, result) => {
    const name = result === null ? tools.find((tool) => tool in shells) : undefined;
    return name === undefined ? null : { name, input: shells[name]?.(command) ?? {} };
  };
}
