import {
  type ConfigProblem,
  type ConfigReading,
  parseConfig,
} from '../../../src/actors/config/config.ts';

/** Reads a string as `service.yaml`. */
export function read(text: string, env: Record<string, string | undefined> = {}): ConfigReading {
  return parseConfig(text, { file: 'service.yaml', env });
}

/** A reading as lines a table can hold: `error 3:5 model.name message`. */
export function linesOf(reading: ConfigReading): string[] {
  const line = (severity: string) => (problem: ConfigProblem) =>
    `${severity} ${problem.line}:${problem.column} ${problem.path} | ${problem.message}`;
  return [
    ...(reading.ok ? [] : reading.problems.map(line('error'))),
    ...reading.warnings.map(line('warning')),
  ];
}
