import { type ConfigReading, type ParseOptions, parseConfig } from './parse-config.ts';
import { readText } from './read-text.ts';

const file = 'service.yaml';

/** Reads the `service.yaml` of an agent's folder; an unreadable file is reported as a problem, not thrown. */
export function loadConfig(directory: string, env: ParseOptions['env']): ConfigReading {
  const reading = readText(directory, file);
  if (reading === null) {
    return unreadable(
      `there is no ${file} in ${directory}; copy examples/refunds to start, or pass --dir`,
    );
  }
  return reading.ok ? parseConfig(reading.text, { file, env }) : unreadable(reading.message);
}

function unreadable(message: string): ConfigReading {
  return { ok: false, problems: [{ message, file, line: 1, column: 1, path: '' }], warnings: [] };
}
