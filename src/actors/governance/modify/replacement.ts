import { Buffer } from 'node:buffer';
import type { RE2JS } from 're2js';
import { ModifyError } from './modify-error.ts';
import { readModifyPattern } from './modify-pattern.ts';
import type { Report } from './rule-problem.ts';

/** `{pattern, with}` as configured. */
export interface Replacement {
  /** RE2 syntax. */
  pattern: string;
  /** `$1` or `${1}` inserts a group, `${name}` a named group, `$0` the match, `$$` a dollar sign. */
  with: string;
}

/** Replaces every match in a string. */
export type Replace = (text: string) => string;

/** Literal text, or a group number. */
type Piece = string | number;

const longest = 1024 * 1024;

/** Time limit in milliseconds: a single match is linear, but a string with a match at every letter may not be. */
const patience = 2_000;

/**
 * Compiles a replacement, or reports its problems and returns `null`. References follow Go's rules: the name after `$`
 * is as long as possible, so `$1x` means a group named `1x`. The returned function throws a ModifyError if its result
 * would exceed 1 MiB of UTF-8, or if it takes more than two seconds.
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

/** Parses a `with` into pieces, or returns a sentence about its problem. */
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
    // Checked while the text grows, so memory use stays close to the limit.
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
