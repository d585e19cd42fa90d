import type * as z from 'zod';
import type { JsonSchema } from './json-schema.ts';
import { dashboardFile } from './read-dashboard.ts';
import { peopleFile } from './read-people.ts';
import { channelSchemas, configuredAdapters } from './schema-channels.ts';
import { dashboardSchema } from './schema-dashboard.ts';
import { peopleSchema } from './schema-people.ts';
import { serviceJsonSchema } from './service-json-schema.ts';
import { describeKeys } from './unknown-keys.ts';
import { cleaned, withoutOtherKeys, withVariables } from './written-schema.ts';

/** The files that an editor can check, each with the title of its schema. */
const titles: Record<string, string> = {
  'service.yaml': 'agent of Holdpoint',
  [peopleFile]: 'groups, rotations and absences of an agent of Holdpoint',
  [dashboardFile]: "sign-in of a workspace's dashboard of Holdpoint",
  ...Object.fromEntries(
    configuredAdapters.map((adapter) => [
      `${adapter}-config.yaml`,
      `channel ${adapter} of an agent of Holdpoint`,
    ]),
  ),
};

/** The names of the files that have a JSON Schema. */
export const filesWithSchema: readonly string[] = Object.keys(titles);

/** Where the schemas of the newest release are; `package.json` names the repository. */
const home = 'https://raw.githubusercontent.com/holdpoint/holdpoint/main/schema';

/** Returns the name of the schema of a file: `service.schema.json` for `service.yaml`. */
export function schemaName(file: string): string {
  return file.replace(/\.yaml$/, '.schema.json');
}

/** Generates the JSON Schema (draft-07) of a file for editors (docs/contract/command.md). */
export function editorSchema(file: string): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `${home}/${schemaName(file)}`,
    title: titles[file] ?? file,
    ...keysOf(file),
  };
}

function keysOf(file: string): JsonSchema {
  if (file === 'service.yaml') return withoutDialect(serviceJsonSchema());
  const adapter = configuredAdapters.find((name) => file === `${name}-config.yaml`);
  if (adapter === undefined) {
    return withoutOtherKeys(written(file === peopleFile ? peopleSchema : dashboardSchema));
  }
  const channel = written(channelSchemas[adapter]);
  // An unknown key is an error in the file of Telegram, whose keys name the people who may decide.
  const strict = adapter === 'telegram' ? withoutOtherKeys(channel) : channel;
  return { ...strict, properties: { ...strict.properties, settings: orNull(strict) } };
}

function written(schema: z.ZodType): JsonSchema {
  return withoutDialect(withVariables(cleaned(describeKeys(schema) as JsonSchema)));
}

/** A `settings:` whose keys are all commented out counts as absent. */
function orNull({ properties }: JsonSchema): JsonSchema {
  const { description = '', ...settings } = properties?.['settings'] ?? {};
  return { description, anyOf: [settings, { type: 'null' }] };
}

function withoutDialect({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
