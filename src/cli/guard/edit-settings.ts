import {
  hasRepeatedKey,
  InexactNumberError,
  measureJson,
  readExactJson,
} from '../../machines/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** Reads a settings file. Throws CliError with file, line and column for text that would lose a setting. */
export function readSettings(path: string, text: string): JsonObject {
  const at = (position: number): string => {
    const before = text.slice(0, position);
    return `${path}:${before.split('\n').length}:${position - before.lastIndexOf('\n')}`;
  };
  const refuse = (message: string, hint: string, cause?: unknown): CliError =>
    new CliError(message, {
      code: 'settings_unreadable',
      exitCode: exitCodes.invalid,
      hint,
      cause,
    });
  if (text.trim() === '') return {};
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (error) {
    const position = Number(/position (\d+)/.exec(messageOf(error))?.[1] ?? text.length);
    const why = messageOf(error).replace(/ in JSON at position.*| \(line .*/, '');
    throw refuse(
      `${at(position)}: the settings are no JSON: ${why}`,
      'correct the file; nothing was changed',
      error,
    );
  }
  if (!isJsonObject(settings)) {
    throw refuse(`${at(0)}: the settings are no object`, 'correct the file; nothing was changed');
  }
  try {
    readExactJson(text);
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error;
    throw refuse(
      `${at(0)}: a number of the settings would be rounded`,
      'write it as a string; nothing was changed',
      error,
    );
  }
  if (hasRepeatedKey(settings, measureJson(text))) {
    throw refuse(
      `${at(0)}: a key of the settings is repeated in one object`,
      'remove one; nothing was changed',
    );
  }
  return settings;
}

/** Returns the indentation of a JSON text. */
export function indentOf(text: string): string | number {
  return /^[{[]\r?\n([ \t]+)/.exec(text)?.[1] ?? 2;
}

/** Returns the lines that differ, with two lines around them. */
export function difference(before: string, after: string): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old.at(-1 - end) === now.at(-1 - end)
  )
    end += 1;
  return [
    ...old.slice(Math.max(0, start - 2), start).map((line) => `  ${line}`),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...old.slice(old.length - end, old.length - end + 2).map((line) => `  ${line}`),
  ];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
