import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { editorSchema, filesWithSchema } from '../actors/config/config.ts';
import { editorLine } from '../agent/create/editor-line.ts';
import { writeSchemas } from '../agent/create/write-schemas.ts';
import { codeOf } from '../machines/error-code.ts';
import { agentDirectory } from './agent-directory.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { plainLine } from './plain-text.ts';
import type { Session } from './session.ts';

export interface SchemaOptions {
  dir: string;
  write?: boolean;
}

/** `schema [file]`: prints the JSON Schema of a configuration file, or writes it into the agent's folder for editors. */
export async function schema(
  { output }: Session,
  file: string | undefined,
  { dir, write = false }: SchemaOptions,
): Promise<void> {
  if (file !== undefined && !filesWithSchema.includes(file)) throw unknownFile(file);
  if (!write) {
    const printed = editorSchema(file ?? 'service.yaml');
    output.line(JSON.stringify(printed, null, 2));
    output.json(printed);
    return;
  }
  const directory = agentDirectory(dir);
  const files = file === undefined ? filesIn(directory) : [file];
  const paths = await writeSchemas(directory, files).catch((error: unknown) => {
    throw notWritten(directory, error);
  });
  for (const path of paths) output.line(plainLine(`wrote ${path}`));
  for (const name of files) {
    if (isNamed(directory, name)) continue;
    output.note(`begin ${name} with this line, by which an editor finds it: #${editorLine(name)}`);
  }
  output.json({ files: paths });
}

/** Lists the files of a folder that have a schema; `service.yaml` also if it is missing. */
function filesIn(directory: string): string[] {
  return filesWithSchema.filter(
    (name) => name === 'service.yaml' || existsSync(join(directory, name)),
  );
}

/** Returns whether a file names its schema. A file that cannot be read does not. */
function isNamed(directory: string, name: string): boolean {
  try {
    return /^#\s*yaml-language-server:/m.test(readFileSync(join(directory, name), 'utf8'));
  } catch {
    return false;
  }
}

function unknownFile(file: string): CliError {
  return new CliError(plainLine(`there is no schema of ${file}`), {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `name one of ${filesWithSchema.join(', ')}`,
  });
}

function notWritten(directory: string, error: unknown): CliError {
  return new CliError(plainLine(`the schema cannot be written (${codeOf(error)})`), {
    code: 'cannot_write',
    exitCode: exitCodes.failed,
    hint: `check that you may write to ${directory}`,
    cause: error,
  });
}
