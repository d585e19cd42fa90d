import { join } from 'node:path';
import { editorSchema } from '../../actors/config/config.ts';
import { replaceFile } from '../../actors/replace-file.ts';
import { schemaPath } from './editor-line.ts';

/** Writes the JSON Schemas of files into the state folder of an agent, for editors. Returns their paths. */
export async function writeSchemas(directory: string, files: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const file of files) {
    const path = join(directory, schemaPath(file));
    await replaceFile(path, schemaText(file));
    paths.push(path);
  }
  return paths;
}

/** Returns the text of the JSON Schema of a file. */
export function schemaText(file: string): string {
  return `${JSON.stringify(editorSchema(file), null, 2)}\n`;
}
