import type { ConfigProblem } from '../actors/config/config.ts';
import type { Log } from '../actors/ports/log.ts';
import { asJson } from './config-failure.ts';
import type { Output } from './output.ts';
import { plainLine } from './plain-text.ts';

/** Prints warnings about an agent's files in the format of errors: `service.yaml:2:1: warning: message`. */
export function printWarnings(output: Output, warnings: readonly ConfigProblem[]): void {
  for (const { file, line, column, message } of warnings) {
    output.warn(plainLine(message), plainLine(`${file}:${line}:${column}: `));
  }
}

/** Writes warnings about an agent's files to a structured log, with their location as fields. */
export function logWarnings(log: Pick<Log, 'warn'>, warnings: readonly ConfigProblem[]): void {
  for (const warning of warnings) {
    const { message, ...place } = asJson(warning);
    log.warn(place, message);
  }
}
