import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, parseEnv } from 'node:util';
import { codeOf } from '../../machines/error-code.ts';
import { refusedSecretName } from '../../machines/secret-name.ts';
import { largestSettingsFile, readRegularFile, UnusableFileError } from '../read-regular-file.ts';
import { replaceDurably } from './replace-durably.ts';
import { takeLock } from './take-lock.ts';
import { fileReason, unusableFile } from './unusable-file.ts';

const namePattern = /^[A-Z_][A-Z0-9_]*$/;

/** A variable must not be written to an `.env`; the message names it without its value. */
export class VariableError extends Error {
  readonly code = 'variable_refused';
}

/**
 * Sets variables in the `.env` of a folder, creates it if it is missing, and returns its path. Other variables and
 * comments are preserved. The file is replaced atomically and readable only by its owner; an ignore file next to it
 * keeps it out of version control. On a VariableError or a SecretsError nothing was written.
 */
export async function writeEnvironment(
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const path = join(folder, '.env');
  const entries = Object.entries(variables);
  const lines = entries.map(([name, value]) => [name, lineOf(name, value)] as const);
  if (entries.length === 0) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await change(path, (before) => ({
    after: lines.reduce((text, [name, line]) => withVariable(text, name, line), before),
    wanted: { ...parseEnv(before), ...variables },
  }));
  return path;
}

/** Removes a variable from the `.env` of a folder, and returns whether it existed. Rejects with a SecretsError. */
export async function removeVariable(folder: string, name: string): Promise<boolean> {
  const path = join(folder, '.env');
  if (!Object.hasOwn(parseEnv(contentOf(path)), name)) return false;
  await change(path, (before) => {
    const { [name]: _, ...wanted } = parseEnv(before);
    return { after: withoutVariable(before, name), wanted };
  });
  return true;
}

/** Changes an `.env` under its lock. Rejects with a SecretsError if the change would alter any other variable. */
async function change(
  path: string,
  edit: (before: string) => { after: string; wanted: object },
): Promise<void> {
  const lock = await takeLock(path);
  try {
    const { after, wanted } = edit(contentOf(path));
    if (!isDeepStrictEqual({ ...parseEnv(after) }, { ...wanted })) {
      throw unusableFile(path, 'has a form that cannot be edited; fix it by hand');
    }
    if (Buffer.byteLength(after) > largestSettingsFile) {
      throw unusableFile(path, `would have more than ${largestSettingsFile} bytes`);
    }
    ignore(dirname(path));
    write(path, after);
  } finally {
    lock.release();
  }
}

/** Formats one variable so that any value is read back unchanged. Throws a VariableError. */
function lineOf(name: string, value: string): string {
  const refusal = namePattern.test(name)
    ? refusedSecretName(name)
    : 'the name of a variable is upper-case letters, digits and underscores, such as SHOP_KEY';
  if (refusal !== null) throw new VariableError(refusal);
  if (/^[\w./:@+,=-]*$/.test(value)) return `${name}=${value}`;
  const quote = ["'", '`', '"'].find((mark) => !value.includes(mark));
  const line = `${name}=${quote}${value}${quote}`;
  if (quote !== undefined && !value.includes('\0') && parseEnv(`${line}\n`)[name] === value)
    return line;
  const message = `the value of ${name} cannot be stored in an .env file; use the command secret set instead`;
  throw new VariableError(message);
}

/**
 * Returns the range of a variable in a string, from the start of its line to the end of its value; `null` if it is
 * absent.
 */
function placeOf(text: string, name: string): [start: number, end: number] | null {
  const place = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=[ \\t]*`, 'm').exec(text);
  if (place === null) return null;
  const start = place.index + place[0].length;
  const quoted = /^(?:"[^"]*"|'[^']*'|`[^`]*`)[^\n]*|^[^\n]*/.exec(text.slice(start))?.[0] ?? '';
  return [place.index, start + quoted.length];
}

/** Replaces the line of a variable, or appends it. */
function withVariable(text: string, name: string, line: string): string {
  const place = placeOf(text, name);
  if (place !== null) {
    const replaced = text.slice(0, place[0]) + line + text.slice(place[1]);
    const wanted = { ...parseEnv(text), ...parseEnv(`${line}\n`) };
    if (isDeepStrictEqual({ ...parseEnv(replaced) }, wanted)) return replaced;
  }
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** Removes every line that sets a variable. */
function withoutVariable(text: string, name: string): string {
  const place = placeOf(text, name);
  if (place === null) return text;
  return withoutVariable(
    text.slice(0, place[0]) + text.slice(place[1]).replace(/^\r?\n/, ''),
    name,
  );
}

function contentOf(path: string): string {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return '';
    if (stat.isSymbolicLink())
      throw unusableFile(path, 'is a link; change what it leads to by hand');
    return readRegularFile(path, largestSettingsFile).toString('utf8');
  } catch (error) {
    if (error instanceof UnusableFileError) {
      throw unusableFile(
        path,
        `is not a file of at most ${largestSettingsFile} bytes; fix or remove it`,
        error,
      );
    }
    if (codeOf(error) === 'secrets_unusable') throw error;
    throw unusableFile(
      path,
      `cannot be read (${fileReason(error)}); check its owner and permissions`,
    );
  }
}

/** Adds `.env` to the ignore file next to it. */
function ignore(folder: string): void {
  const path = join(folder, '.gitignore');
  let text = '';
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      text = readFileSync(path, 'utf8');
    }
    if (text.split(/\r?\n/).some((line) => ['.env', '/.env', '*'].includes(line.trim()))) return;
    replaceDurably(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.env\n`);
  } catch (error) {
    throw unusableFile(path, `cannot be written (${fileReason(error)}); nothing was set`, error);
  }
}

function write(path: string, content: string): void {
  try {
    replaceDurably(path, content);
  } catch (error) {
    throw unusableFile(path, `cannot be written (${fileReason(error)}); it is unchanged`, error);
  }
}
