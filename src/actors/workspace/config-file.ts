import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that a `service.yaml` may have. */
const longest = 256 * 1024;

/** The text of a `service.yaml`, and what tells it from another. */
export interface ConfigText {
  path: string;
  content: string;
  /** A strong entity tag, with its quotes. */
  etag: string;
}

/** The file cannot be read or written as it is; the message says why. */
export class ConfigFileError extends Error {
  readonly code = 'config_unusable';
}

/** Reads the `service.yaml` of an agent's folder; no link is followed. Rejects with a ConfigFileError. */
export async function readConfigText(directory: string): Promise<ConfigText> {
  const path = join(directory, 'service.yaml');
  const file = await open(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigFileError(`${path} cannot be read (${code})`, { cause: error });
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > longest) {
      throw new ConfigFileError(`${path} is no file of at most ${longest} bytes`);
    }
    const content = await file.readFile('utf8');
    return { path, content, etag: etagOf(content) };
  } finally {
    await file.close();
  }
}

/**
 * Replaces a `service.yaml` unless it is not the one that `etag` names any more; the file is the old one or the new
 * one, whole, whatever happens. Returns what is there afterwards, and whether that was written now.
 */
export async function writeConfigText(
  directory: string,
  { content, etag }: { content: string; etag: string },
): Promise<ConfigText & { isWritten: boolean }> {
  if (Buffer.byteLength(content) > longest) {
    throw new ConfigFileError(`service.yaml may have at most ${longest} bytes`);
  }
  const before = await readConfigText(directory);
  if (before.etag !== etag) return { ...before, isWritten: false };
  const { path } = before;
  const { mode } = await lstat(path);
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(draft, 'wx', mode & 0o777);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    const now = await readConfigText(directory);
    if (now.etag !== etag) return { ...now, isWritten: false };
    await rename(draft, path);
    return { path, content, etag: etagOf(content), isWritten: true };
  } finally {
    await rm(draft, { force: true });
  }
}

function etagOf(content: string): string {
  return `"${hash('sha256', content)}"`;
}
