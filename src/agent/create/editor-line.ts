import { schemaName } from '../../actors/config/config.ts';

/** Folder of the schemas in an agent's folder. The editor reads them without a network. */
const schemaFolder = '.service';

/** Returns the path of the JSON Schema of a file, relative to the agent's folder. */
export function schemaPath(file: string): string {
  return `${schemaFolder}/${schemaName(file)}`;
}

/** Returns the comment that names the JSON Schema of a file for its editor, without the `#`. */
export function editorLine(file: string): string {
  return ` yaml-language-server: $schema=${schemaPath(file)}`;
}
