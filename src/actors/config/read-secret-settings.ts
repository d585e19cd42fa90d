import type * as z from 'zod';
import type { ParseOptions } from './parse-config.ts';
import { readSection } from './read-section.ts';
import { secretsSchema } from './schema-daemon.ts';

/**
 * Reads `secrets` of an agent's `service.yaml` alone, since the rest of the file is filled in from what it names. What
 * cannot be read is as if it were not written, and is complained of when the whole file is read. Never throws.
 */
export function readSecretSettings(
  directory: string,
  env: ParseOptions['env'],
): z.output<typeof secretsSchema> {
  const written = secretsSchema.safeParse(readSection(directory, 'secrets', env) ?? {});
  return written.data ?? secretsSchema.parse({});
}
