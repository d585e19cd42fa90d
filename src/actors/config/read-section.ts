import type * as z from 'zod';
import { isJsonObject } from '../../machines/json.ts';
import { guardYaml } from './guard-yaml.ts';
import type { ParseOptions } from './parse-config.ts';
import { readText } from './read-text.ts';
import { readTree } from './read-tree.ts';
import { secretsSchema, storeSchema } from './schema-daemon.ts';

/** Sections that are read before the whole file, or while the rest of it is invalid. */
const schemas = { secrets: secretsSchema, store: storeSchema };

type SectionName = keyof typeof schemas;

/**
 * Reads one section of an agent's `service.yaml` independently of the others. An invalid value is ignored here and
 * reported when the whole file is read. Never throws.
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
  // Skips parsing if the file does not mention the section; a backslash escape could spell its name differently.
  if (!source.includes(section) && !source.includes('\\')) return undefined;
  if (guardYaml(source) !== null) return undefined;
  const { value } = readTree(source, env);
  return isJsonObject(value) ? value[section] : undefined;
}
