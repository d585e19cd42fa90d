import { join } from 'node:path';
import { filesWithSchema } from '../../actors/config/config.ts';
import { readRegularFile } from '../../actors/read-regular-file.ts';
import { schemaPath } from './editor-line.ts';
import { schemaText } from './write-schemas.ts';

/** Maximum size of a schema in bytes; a larger file is not one. */
const largestSchema = 4 * 1024 * 1024;

/** Lists the schemas in the state folder of an agent that another release wrote. */
export function staleSchemas(directory: string): string[] {
  return filesWithSchema.flatMap((file) => {
    const written = textAt(join(directory, schemaPath(file)));
    return written === null || written === schemaText(file) ? [] : [schemaPath(file)];
  });
}

/** Returns the text of a file; `null` if there is none that can be read. */
function textAt(path: string): string | null {
  try {
    return readRegularFile(path, largestSchema).toString('utf8');
  } catch {
    return null;
  }
}
