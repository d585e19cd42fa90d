import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { writePrivately } from '../../actors/process/process.ts';
import { writeEnvironment } from '../../actors/secrets/secrets.ts';
import { keyVariableOf, settingsPath, settingsShape, settingsText } from './settings-file.ts';

/** Settings as received from a client; every value is validated here. */
export interface SettingsRequest {
  provider?: unknown;
  model?: unknown;
  base_url?: unknown;
  api_key_env?: unknown;
  /** Empty or absent retains the current key. */
  api_key?: unknown;
}

/** Invalid settings; nothing was written. The message states the reason without any value. */
export class SettingsError extends Error {
  readonly code = 'settings_refused';
}

const keyShape = z
  .string({ error: 'api_key must be a string' })
  .trim()
  .max(4_096, 'api_key is longer than any key')
  .regex(/^[\x21-\x7e]*$/, 'api_key holds characters that no key has; send the key alone')
  .default('');

/**
 * Saves settings in a folder (docs/contract/dashboard.md): non-secrets in `ui.yaml`, the key in a `.env` next to it
 * that only its owner can read. Rejects with a SettingsError, a SecretsError or a file system error.
 */
export async function saveSettings(folder: string, request: SettingsRequest): Promise<void> {
  const { api_key, ...fields } = request;
  const settings = checked(settingsShape, fields);
  const key = checked(keyShape, api_key ?? undefined);
  const variable = keyVariableOf(settings);
  if (key !== '' && variable === null) {
    throw new SettingsError(
      `${settings.provider} has no default key variable; set one in api_key_env, such as MODEL_KEY`,
    );
  }
  makeFolder(folder);
  if (key !== '' && variable !== null) await writeEnvironment(folder, { [variable]: key });
  writePrivately(settingsPath(folder), settingsText(settings));
}

function checked<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const found = shape.safeParse(value);
  if (found.success) return found.data;
  throw new SettingsError(found.error.issues[0]?.message ?? 'the settings are no map');
}

/** Refuses a symbolic link, which could redirect the key to a folder that other users can read. */
function makeFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode } = lstatSync(folder);
  if (!lstatSync(folder).isDirectory()) {
    throw new SettingsError(`${folder} is not a folder; remove it`);
  }
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
}
