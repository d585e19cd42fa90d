import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A path cannot be read as a file: it is a folder, a pipe or a device, or it is too long. */
export class UnusableFileError extends Error {
  readonly code: 'no_file' | 'too_long';

  constructor(code: UnusableFileError['code'], path: string) {
    super(code === 'no_file' ? `${path} is no file` : `${path} is too long`);
    this.code = code;
  }
}

/**
 * Maximum size in bytes of a settings file (docs/contract/configuration.md): `service.yaml`, a file that it names, an
 * `.env`, or a file of a skill.
 */
export const largestSettingsFile = 256 * 1024;

/**
 * Reads a file of an untrusted folder: never blocks on a pipe or device, and reads at most `longest` bytes. Links are
 * followed. Throws an UnusableFileError, or a file system error.
 */
export function readRegularFile(path: string, longest: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new UnusableFileError('no_file', path);
    if (stat.size > longest) throw new UnusableFileError('too_long', path);
    // One extra byte detects a file that is longer than its reported size.
    const bytes = Buffer.allocUnsafe(Math.max(stat.size, 4_096) + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) return bytes.subarray(0, length);
      length += read;
      if (length === bytes.length || length > longest) {
        throw new UnusableFileError('too_long', path);
      }
    }
  } finally {
    closeSync(file);
  }
}
