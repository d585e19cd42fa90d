import { isJsonObject } from '../../machines/json.ts';
import { guardYaml } from './guard-yaml.ts';
import type { ParseOptions } from './parse-config.ts';
import { readText } from './read-text.ts';
import { readTree } from './read-tree.ts';

/** Reads one section of an agent's `service.yaml` without a look at the others; `undefined` when it cannot be read. Never throws. */
export function readSection(
  directory: string,
  section: 'secrets' | 'store',
  env: ParseOptions['env'],
): unknown {
  const reading = readText(directory, 'service.yaml');
  if (reading === null || !reading.ok) return undefined;
  const source = reading.text.replace(/^\uFEFF/, '');
  // Most files do not name it, and are read as a whole soon enough; a backslash can spell it in another way.
  if (!source.includes(section) && !source.includes('\\')) return undefined;
  if (guardYaml(source) !== null) return undefined;
  const { value } = readTree(source, env);
  return isJsonObject(value) ? value[section] : undefined;
}
