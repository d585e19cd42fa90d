import { includeReader } from './include-reader.ts';
import type { ReadInclude } from './included-policy.ts';
import { type ConfigReading, type ParseOptions, parseConfig } from './parse-config.ts';
import { readText } from './read-text.ts';

const file = 'service.yaml';

/** Reads the `service.yaml` of an agent's folder; an unreadable file is reported as a problem, not thrown. */
export function loadConfig(
  directory: string,
  env: ParseOptions['env'],
  readInclude: ReadInclude = includeReader(directory),
): ConfigReading {
  const reading = readText(directory, file);
  if (reading === null) {
    return unreadable(
      `there is no ${file} in ${directory}; copy examples/refunds to start, or pass --dir`,
    );
  }
  if (!reading.ok) return unreadable(reading.message);
  return parseConfig(reading.text, { file, env, readInclude });
}

function unreadable(message: string): ConfigReading {
  const problems = [{ message, file, line: 1, column: 1, path: '' }];
  return { ok: false, problems, warnings: [], files: [] };
}
