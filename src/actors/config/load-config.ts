import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { maximumBytes, tooLarge } from './guard-yaml.ts';
import { type ConfigReading, type ParseOptions, parseConfig } from './parse-config.ts';

const file = 'service.yaml';

/** Reads the `service.yaml` of an agent's folder; a file that cannot be read is a problem, not an exception. */
export function loadConfig(directory: string, env: ParseOptions['env']): ConfigReading {
  const path = join(directory, file);
  try {
    if (statSync(path).size > maximumBytes) return unreadable(tooLarge);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return parseConfig(text, { file, env });
  } catch (error) {
    return unreadable(reasonOf(error as NodeJS.ErrnoException, directory));
  }
}

function reasonOf({ code }: NodeJS.ErrnoException, directory: string): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `there is no ${file} in ${directory}; copy examples/refunds to begin with, or pass --dir`;
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return `${file} is not UTF-8 text; save it as UTF-8`;
    default:
      return `${file} in ${directory} cannot be read (${code}); check that it is a file you may read`;
  }
}

function unreadable(message: string): ConfigReading {
  return { ok: false, problems: [{ message, file, line: 1, column: 1, path: '' }], warnings: [] };
}
