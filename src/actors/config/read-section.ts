import type * as z from 'zod';
import { isJsonObject } from '../../machines/json.ts';
import { guardYaml } from './guard-yaml.ts';
import type { ParseOptions } from './parse-config.ts';
import { readText } from './read-text.ts';
import { readTree } from './read-tree.ts';
import { secretsSchema, storeSchema } from './schema-daemon.ts';

/** The sections that are read before the rest of the file can be, or where the rest is wrong. */
const schemas = { secrets: secretsSchema, store: storeSchema };

type SectionName = keyof typeof schemas;

/**
 * Reads one section of an agent's `service.yaml` without a look at the others. What cannot be read is as if it were not
 * written, and is complained of when the whole file is read. Never throws.
 */
export function readSection<Name extends SectionName>(
  directory: string,
  name: Name,
  env: ParseOptions['env'],
): z.output<(typeof schemas)[Name]> {
  const schema: z.ZodType = schemas[name];
  const written = schema.safeParse(writtenIn(directory, name, env) ?? {});
  return (written.data ?? schema.parse({})) as z.output<(typeof schemas)[Name]>;
}

function writtenIn(directory: string, section: SectionName, env: ParseOptions['env']): unknown {
  const reading = readText(directory, 'service.yaml');
  if (reading === null || !reading.ok) return undefined;
  const source = reading.text.replace(/^\uFEFF/, '');
  // Most files do not name it, and are read as a whole soon enough; a backslash can spell it in another way.
  if (!source.includes(section) && !source.includes('\\')) return undefined;
  if (guardYaml(source) !== null) return undefined;
  const { value } = readTree(source, env);
  return isJsonObject(value) ? value[section] : undefined;
}
