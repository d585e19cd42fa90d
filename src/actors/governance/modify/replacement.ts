import { Buffer } from 'node:buffer';
import type { RE2JS } from 're2js';
import { ModifyError } from './modify-error.ts';
import { readModifyPattern } from './modify-pattern.ts';
import type { Report } from './rule-problem.ts';

/** `{pattern, with}` as configured. */
export interface Replacement {
  /** RE2 syntax. */
  pattern: string;
  /** `$1` or `${1}` is a group, `${name}` a named one, `$0` the match, `$$` a dollar sign. */
  with: string;
}

/** Replaces every match in a text. */
export type Replace = (text: string) => string;

/** A text between groups, or the number of a group. */
type Piece = string | number;

const longest = 1024 * 1024;

/** Milliseconds. One match takes linear time; a text that has as many matches as letters may not. */
const patience = 2_000;

/**
 * Compiles a replacement, or reports what is wrong with it and returns `null`. References are read as
 * Go reads them: the name after `$` is as long as it can be, so `$1x` means a group called `1x`. What
 * is returned throws a ModifyError when the text it makes would exceed 1 MiB of UTF-8, or when it
 * takes more than two seconds.
 */
export function compileReplacement(replacement: Replacement, report: Report): Replace | null {
  const reading = readModifyPattern(replacement.pattern);
  if (!reading.ok) {
    report(['pattern'], reading.message);
    return null;
  }
  const pieces = piecesOf(replacement.with, reading.pattern);
  if (typeof pieces === 'string') {
    report(['with'], pieces);
    return null;
  }
  return (text) => replaceAll(text, reading.pattern, pieces);
}

/** Returns the pieces of a `with`, or a sentence about what is wrong with it. */
function piecesOf(text: string, pattern: RE2JS): Piece[] | string {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(/\$(?:\$|\{([^}]*)(\}?)|([\p{L}\p{Nd}_]+))/gu)) {
    pieces.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[0] === '$$') {
      pieces.push('$');
      continue;
    }
    if (match[2] === '') return 'a ${ is not closed; add the }, or write $$ for a dollar sign';
    const group = groupOf(match[1] ?? match[3] ?? '', pattern);
    if (group === undefined) {
      return 'this refers to a group that the pattern lacks; correct it, or write $$ for a dollar sign';
    }
    pieces.push(group);
  }
  return [...pieces, text.slice(end)].filter((piece) => piece !== '');
}

function groupOf(name: string, pattern: RE2JS): number | undefined {
  if (!/^\d+$/.test(name)) {
    const named = pattern.namedGroups();
    return Object.hasOwn(named, name) ? named[name] : undefined;
  }
  return Number(name) <= pattern.groupCount() ? Number(name) : undefined;
}

function replaceAll(text: string, pattern: RE2JS, pieces: readonly Piece[]): string {
  const matcher = pattern.matcher(text);
  const parts: string[] = [];
  let end = 0;
  let length = 0;
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
    // Checked as it grows, so that a text never takes much more memory than it may.
    if (length > longest) throw tooLong();
  };
  const giveUpAt = performance.now() + patience;
  while (matcher.find()) {
    if (performance.now() > giveUpAt) throw new ModifyError('it took longer than two seconds');
    add(text.slice(end, matcher.start()));
    for (const piece of pieces) {
      add(typeof piece === 'string' ? piece : (matcher.group(piece) ?? ''));
    }
    end = matcher.end();
  }
  if (parts.length === 0) return text;
  add(text.slice(end));
  const result = parts.join('');
  if (Buffer.byteLength(result) > longest) throw tooLong();
  return result;
}

function tooLong(): ModifyError {
  return new ModifyError('the text would be longer than 1 MiB');
}
