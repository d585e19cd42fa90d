import type * as z from 'zod';
import type { ParseOptions } from './parse-config.ts';
import { readSection } from './read-section.ts';
import { storeSchema } from './schema-daemon.ts';

/**
 * Reads `store` of an agent's `service.yaml` alone, for what reads the store of an agent whose other settings are wrong.
 * What cannot be read is as if it were not written. Never throws.
 */
export function readStoreSettings(
  directory: string,
  env: ParseOptions['env'],
): z.output<typeof storeSchema> {
  const written = storeSchema.safeParse(readSection(directory, 'store', env) ?? {});
  return written.data ?? storeSchema.parse({});
}
