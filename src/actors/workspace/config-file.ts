import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { largestSettingsFile } from '../read-regular-file.ts';

/** Age after which a draft counts as abandoned by a killed save, in milliseconds. */
const longestSave = 10_000;

/** Maximum wait for another save, in milliseconds. */
const patience = 5_000;

/** The text of a `service.yaml`, and its ETag. */
export interface ConfigText {
  path: string;
  content: string;
  /** Strong ETag, including the quotes. */
  etag: string;
}

type ConfigSave = Pick<ConfigText, 'content' | 'etag'>;

type SavedConfig = ConfigText & { isWritten: boolean };

/** The file cannot be read or written; the message gives the reason. */
export class ConfigFileError extends Error {
  readonly code = 'config_unusable';
}

/** Reads the `service.yaml` of an agent's folder without following links. Rejects with a ConfigFileError. */
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
    if (!stat.isFile() || stat.size > largestSettingsFile) {
      throw new ConfigFileError(`${path} is no file of at most ${largestSettingsFile} bytes`);
    }
    const content = await file.readFile('utf8');
    return { path, content, etag: etagOf(content) };
  } finally {
    await file.close();
  }
}

/**
 * Replaces a `service.yaml` if its ETag is still `etag`. The replacement is atomic, and of two concurrent saves the
 * second sees the first one's result. Resolves with the current content, and whether it was written now. Rejects with a
 * ConfigFileError.
 */
export async function writeConfigText(directory: string, save: ConfigSave): Promise<SavedConfig> {
  if (Buffer.byteLength(save.content) > largestSettingsFile) {
    throw new ConfigFileError(`service.yaml may have at most ${largestSettingsFile} bytes`);
  }
  for (;;) {
    const saved = await tryToWrite(directory, save);
    if (saved !== null) return saved;
  }
}

/** Returns `null` if another save has replaced this one's draft; the caller must then start again. */
async function tryToWrite(
  directory: string,
  { content, etag }: ConfigSave,
): Promise<SavedConfig | null> {
  const { path } = await readConfigText(directory);
  const draft = `${path}.saving`;
  const file = await openDraft(draft);
  let isWritten = false;
  try {
    const now = await readConfigText(directory);
    if (now.etag !== etag) return { ...now, isWritten: false };
    const { mode } = await lstat(path);
    await file.chmod(mode & 0o777);
    await file.writeFile(content);
    await file.sync();
    // Another save may have removed this draft as abandoned.
    if (!(await isAt(draft, file))) return null;
    await rename(draft, path);
    isWritten = true;
    return { path, content, etag: etagOf(content), isWritten };
  } finally {
    if (!isWritten && (await isAt(draft, file))) await rm(draft, { force: true });
    await file.close();
  }
}

async function isAt(path: string, file: FileHandle): Promise<boolean> {
  const [own, found] = await Promise.all([file.stat(), lstat(path).catch(() => null)]);
  return found?.ino === own.ino && found.dev === own.dev;
}

/** Only one process can create the draft; it blocks other saves until it is renamed. */
async function openDraft(draft: string): Promise<FileHandle> {
  const until = performance.now() + patience;
  for (;;) {
    try {
      return await open(draft, 'wx', 0o600);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') {
        throw new ConfigFileError(`${draft} cannot be written (${code})`, { cause: error });
      }
    }
    const found = await lstat(draft).catch(() => null);
    const isLeft = found?.isFile() === true && Date.now() - found.mtimeMs > longestSave;
    if (isLeft) await rm(draft, { force: true });
    else if (performance.now() < until) await wait(25);
    else {
      const advice = 'save again in a moment, or remove that file if no save is running';
      throw new ConfigFileError(`${draft} exists, as if another save is running; ${advice}`);
    }
  }
}

function etagOf(content: string): string {
  return `"${hash('sha256', content)}"`;
}
