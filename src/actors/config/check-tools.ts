import { normalName } from '../tool-name.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import { configOwners } from './schema-tools.ts';
import type { ServiceConfig } from './service-schema.ts';

const shells = [
  'sh',
  'bash',
  'dash',
  'ash',
  'zsh',
  'ksh',
  'mksh',
  'fish',
  'csh',
  'tcsh',
  'busybox',
];

/**
 * Checks that no tool is listed twice, neither in `tools` nor in `builtin_tools`, and that each setting belongs to its
 * tool. `cli_execute` requires a list of programs and a sandbox, and may not list a shell (docs/contract/models.md).
 */
export function checkTools(config: ServiceConfig): Finding[] {
  const names = config.tools.map(({ name }) => normalName(name));
  return [
    ...repeats(names).map((index) => repeated(['tools', index, 'name'])),
    ...repeats(config.builtin_tools).map((index) => repeated(['builtin_tools', index])),
    ...config.tools.flatMap(misplacedSettings),
    ...checkCommands(config),
  ];
}

function repeats(names: readonly string[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []));
}

function repeated(path: Path): Finding {
  return errorAt(path, 'this tool is listed twice; remove one of the two');
}

/** A setting of another tool would have no effect; its author should know. */
function misplacedSettings(
  { name, config }: ServiceConfig['tools'][number],
  at: number,
): Finding[] {
  return Object.entries(config).flatMap(([key, value]): Finding[] => {
    const owner = configOwners[key as keyof typeof configOwners];
    if (value === undefined || normalName(owner) === normalName(name)) return [];
    const message = `this is a setting of ${owner}; move it there or remove it`;
    return [errorAt(['tools', at, 'config', key], message)];
  });
}

function checkCommands({ builtin_tools, tools, egress }: ServiceConfig): Finding[] {
  const listed = builtin_tools.indexOf('cli_execute');
  if (listed === -1) return [];
  const at = tools.findIndex(({ name }) => normalName(name) === normalName('cli_execute'));
  const commands = tools[at]?.config.commands;
  const path: Path = ['builtin_tools', listed];
  const findings: Finding[] = [];
  if (commands === undefined) {
    const message =
      'cli_execute needs the programs that it may run; add {name: cli_execute, config: {commands: [jq]}} to tools';
    const restsOn: Path[] = at === -1 ? [] : [['tools', at, 'config', 'commands']];
    findings.push(errorAt(path, message, ...restsOn));
  }
  if (egress.sandbox === 'env') {
    const message =
      'cli_execute runs in a sandbox alone; set egress.sandbox to bwrap or auto, or remove it';
    findings.push(errorAt(path, message));
  }
  return [
    ...findings,
    ...(commands ?? []).flatMap((command, index) => shellAt(command, at, index)),
  ];
}

function shellAt(command: string, tool: number, index: number): Finding[] {
  if (!shells.includes(command)) return [];
  const message = 'this is a shell, which can run any program; list the required programs';
  return [errorAt(['tools', tool, 'config', 'commands', index], message)];
}
