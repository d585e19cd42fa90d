import { join } from 'node:path';
import { largestSettingsFile, readRegularFile } from '../read-regular-file.ts';
import { tooLarge } from './guard-yaml.ts';

/** The text of a file, or one sentence about why it cannot be read. */
export type TextReading = { ok: true; text: string } | { ok: false; message: string };

/** Reads a user-written file of an agent's folder; `null` if there is none. Never throws. */
export function readText(directory: string, file: string): TextReading | null {
  const path = join(directory, file);
  try {
    const bytes = readRegularFile(path, largestSettingsFile);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ok: true, text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return { ok: false, message: code === 'too_long' ? tooLarge : reasonOf(code, file, directory) };
  }
}

function reasonOf(code: string | undefined, file: string, directory: string): string {
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return `${file} is not UTF-8 text; save it as UTF-8`;
  }
  return `${file} in ${directory} cannot be read (${code === 'no_file' ? 'no file' : code}); check that it is a file you may read`;
}
