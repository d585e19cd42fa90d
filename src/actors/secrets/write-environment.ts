import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, parseEnv } from 'node:util';
import { codeOf } from '../../machines/error-code.ts';
import { refusedSecretName } from '../../machines/secret-name.ts';
import { readRegularFile, UnusableFileError } from '../read-regular-file.ts';
import { replaceDurably } from './replace-durably.ts';
import { takeLock } from './take-lock.ts';
import { fileReason, unusableFile } from './unusable-file.ts';

/** Bytes of an `.env`; `readEnvFile` reads no more. */
const largestFile = 256 * 1024;

const namePattern = /^[A-Z_][A-Z0-9_]*$/;

/** A variable that may not be kept in an `.env`; the message names it and shows nothing of its value. */
export class VariableError extends Error {
  readonly code = 'variable_refused';
}

/**
 * Sets variables in the `.env` of a folder, which is made when it is missing, and returns its path. Others and comments
 * stay as they are; the file is the old one or the new one, whole, and its owner alone can read it. A file beside it keeps
 * it out of version control. Rejects with a VariableError or a SecretsError, and has written nothing then.
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

/** Removes a variable from the `.env` of a folder, and returns whether it was there. Rejects with a SecretsError. */
export async function removeVariable(folder: string, name: string): Promise<boolean> {
  const path = join(folder, '.env');
  if (!Object.hasOwn(parseEnv(contentOf(path)), name)) return false;
  await change(path, (before) => {
    const { [name]: _, ...wanted } = parseEnv(before);
    return { after: withoutVariable(before, name), wanted };
  });
  return true;
}

/** Changes an `.env` while nobody else does. Rejects with a SecretsError when the text would mean anything else then. */
async function change(
  path: string,
  edit: (before: string) => { after: string; wanted: object },
): Promise<void> {
  const lock = await takeLock(path);
  try {
    const { after, wanted } = edit(contentOf(path));
    if (!isDeepStrictEqual({ ...parseEnv(after) }, { ...wanted })) {
      throw unusableFile(path, 'is written in a way that nothing can be set in; mend it by hand');
    }
    if (Buffer.byteLength(after) > largestFile) {
      throw unusableFile(path, `would have more than ${largestFile} bytes`);
    }
    ignore(dirname(path));
    write(path, after);
  } finally {
    lock.release();
  }
}

/** Writes one variable so that it is read as it is, whatever it holds. Throws a VariableError. */
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
  const message = `the value of ${name} cannot be kept in an .env file; keep it with the command secret set instead`;
  throw new VariableError(message);
}

/** Where a variable stands in a text, from the start of its line to the end of its value; `null` where it does not. */
function placeOf(text: string, name: string): [start: number, end: number] | null {
  const place = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=[ \\t]*`, 'm').exec(text);
  if (place === null) return null;
  const start = place.index + place[0].length;
  const quoted = /^(?:"[^"]*"|'[^']*'|`[^`]*`)[^\n]*|^[^\n]*/.exec(text.slice(start))?.[0] ?? '';
  return [place.index, start + quoted.length];
}

/** Puts a line in the place of the variable that it sets, or behind all others. */
function withVariable(text: string, name: string, line: string): string {
  const place = placeOf(text, name);
  if (place !== null) {
    const replaced = text.slice(0, place[0]) + line + text.slice(place[1]);
    const wanted = { ...parseEnv(text), ...parseEnv(`${line}\n`) };
    if (isDeepStrictEqual({ ...parseEnv(replaced) }, wanted)) return replaced;
  }
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** Takes every line out that sets a variable. */
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
    return readRegularFile(path, largestFile).toString('utf8');
  } catch (error) {
    if (error instanceof UnusableFileError) {
      throw unusableFile(
        path,
        `is no file of at most ${largestFile} bytes; mend or remove it`,
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

/** Names the `.env` in the ignore file beside it. */
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
    throw unusableFile(path, `cannot be written (${fileReason(error)}); it is as it was`, error);
  }
}
