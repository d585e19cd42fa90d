import type * as z from 'zod';
import { isJsonObject } from '../../machines/json.ts';
import { guardYaml } from './guard-yaml.ts';
import type { ParseOptions } from './parse-config.ts';
import { readText } from './read-text.ts';
import { readTree } from './read-tree.ts';
import { secretsSchema } from './schema-daemon.ts';

/**
 * Reads `secrets` of an agent's `service.yaml` alone, since the rest of the file is filled in from what it names. What
 * cannot be read is as if it were not written, and is complained of when the whole file is read. Never throws.
 */
export function readSecretSettings(
  directory: string,
  env: ParseOptions['env'],
): z.output<typeof secretsSchema> {
  const written = secretsSchema.safeParse(writtenSettings(directory, env) ?? {});
  return written.data ?? secretsSchema.parse({});
}

function writtenSettings(directory: string, env: ParseOptions['env']): unknown {
  const reading = readText(directory, 'service.yaml');
  if (reading === null || !reading.ok) return undefined;
  const source = reading.text.replace(/^\uFEFF/, '');
  // Most files do not name it, and are read as a whole soon enough; a backslash can spell it in another way.
  if (!/secrets|\\/.test(source)) return undefined;
  if (guardYaml(source) !== null) return undefined;
  const { value } = readTree(source, env);
  return isJsonObject(value) ? value['secrets'] : undefined;
}
