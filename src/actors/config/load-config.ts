import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../machines/shell-word.ts';
import { commandLine } from '../command-line.ts';
import { includeReader } from './include-reader.ts';
import type { ReadInclude } from './included-policy.ts';
import { type ConfigReading, type ParseOptions, parseConfig } from './parse-config.ts';
import { readText } from './read-text.ts';

const file = 'service.yaml';

/** Configurations of other products that can be imported. */
const otherFiles = ['forge.yaml', '.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'];

/** Reads the `service.yaml` of an agent's folder; an unreadable file is reported as a problem, not thrown. */
export function loadConfig(
  directory: string,
  env: ParseOptions['env'],
  readInclude: ReadInclude = includeReader(directory),
): ConfigReading {
  const reading = readText(directory, file);
  if (reading === null) {
    const other = otherFiles.find((name) => existsSync(join(directory, name)));
    const advice =
      other === undefined
        ? 'copy examples/refunds to start, or pass --dir'
        : `make an agent from its ${other} with ${commandLine(`import ${shellWord(directory)}`)}, or pass --dir`;
    return unreadable(`there is no ${file} in ${directory}; ${advice}`);
  }
  if (!reading.ok) return unreadable(reading.message);
  return parseConfig(reading.text, { file, env, readInclude });
}

function unreadable(message: string): ConfigReading {
  const problems = [{ message, file, line: 1, column: 1, path: '' }];
  return { ok: false, problems, warnings: [], files: [] };
}
