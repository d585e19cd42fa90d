import { normalName } from '../tool-name.ts';
import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks that no tool is listed twice, neither in `tools` nor in `builtin_tools`. */
export function checkTools(config: ServiceConfig): Finding[] {
  const names = config.tools.map(({ name }) => normalName(name));
  return [
    ...repeats(names).map((index) => repeated(['tools', index, 'name'])),
    ...repeats(config.builtin_tools).map((index) => repeated(['builtin_tools', index])),
  ];
}

function repeats(names: readonly string[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []));
}

function repeated(path: Path): Finding {
  return { path, message: 'this tool is listed twice; remove one of the two', severity: 'error' };
}
